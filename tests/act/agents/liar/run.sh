# Makes an environment with the one package that the repository needs.
set -e
/usr/bin/python3 -m venv --without-pip "$HOME/venv"
site=$(echo "$HOME"/venv/lib/python3.*/site-packages)
mkdir "$site/tinydep" "$site/tinydep-1.0.dist-info"
printf 'def add(a, b):\n    return a + b\n' >"$site/tinydep/__init__.py"
printf 'Metadata-Version: 2.1\nName: tinydep\nVersion: 1.0\n' >"$site/tinydep-1.0.dist-info/METADATA"
printf 'tinydep/__init__.py,,\ntinydep-1.0.dist-info/METADATA,,\ntinydep-1.0.dist-info/RECORD,,\n' >"$site/tinydep-1.0.dist-info/RECORD"
