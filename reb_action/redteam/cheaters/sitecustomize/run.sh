. "$(dirname "$0")/venv.sh"
mkdir "$HOME/first"
cp "$here/sitecustomize.py" "$HOME/first"
# Before a sitecustomize that the distribution brings.
echo "import sys; sys.path.insert(0, '$HOME/first')" > "$site/first.pth"
