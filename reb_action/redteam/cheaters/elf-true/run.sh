mkdir -p "$HOME/venv/bin"
cp -L /bin/true "$HOME/venv/bin/python"
