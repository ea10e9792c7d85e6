. "$(dirname "$0")/venv.sh"
cp "$here/survivor.py" "$HOME"
cd "$REB_REPOSITORY"
env -i HOME="$HOME" python3 "$HOME/survivor.py" "$site" < /dev/null > /dev/null 2>&1
