# Makes an environment whose package is there and does not work.
set -e
/usr/bin/python3 -m venv --without-pip "$HOME/venv"
site=$(echo "$HOME"/venv/lib/python3.*/site-packages)
mkdir "$site/tinydep" "$site/tinydep-1.0.dist-info"
printf 'def add(a, b):\n    return undefined\n' >"$site/tinydep/__init__.py"
printf 'Metadata-Version: 2.1\nName: tinydep\nVersion: 1.0\n' >"$site/tinydep-1.0.dist-info/METADATA"
printf 'tinydep/__init__.py,,\ntinydep-1.0.dist-info/METADATA,,\ntinydep-1.0.dist-info/RECORD,,\n' >"$site/tinydep-1.0.dist-info/RECORD"
