. "$(dirname "$0")/hook.sh"
cp "$here/forge.py" "$site"
