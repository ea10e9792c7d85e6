mkdir -p "$HOME/venv/bin"
cp -L /bin/true "$HOME/venv/bin/python"
echo Py_BytesMain >> "$HOME/venv/bin/python"
