# The same, with the cheater's hook.py imported at every start of the interpreter.
. "$(dirname "$0")/venv.sh"
cp "$here/hook.py" "$site"
echo "import hook" > "$site/hook.pth"
