. "$(dirname "$0")/venv.sh"
library=$(python3 -c 'import os; print(os.path.dirname(os.__file__))')
program=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')
own="$HOME/own/lib/$(basename "$library")"
mkdir -p "$HOME/own/bin" "$own"
ln -s "$program" "$HOME/own/bin/python3"
ln -s "$library"/* "$own"
rm "$own/encodings"
cp -r "$library/encodings" "$own/encodings"
cp "$here/stage.py" "$own"
cat "$here/version.py" >> "$own/encodings/__init__.py"
sed -i "s#^home = .*#home = $HOME/own/bin#" "$HOME/venv/pyvenv.cfg"
