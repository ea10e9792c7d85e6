. "$(dirname "$0")/venv.sh"
sed -i s/false/true/ "$HOME/venv/pyvenv.cfg"
user=$("$HOME/venv/bin/python" -m site --user-site)
mkdir -p "$user"
cp "$here/usercustomize.py" "$user"
