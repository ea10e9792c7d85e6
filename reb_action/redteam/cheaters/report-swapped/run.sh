. "$(dirname "$0")/hook.sh"
sed "s|{home}|$HOME|" "$here/honest.json" > "$HOME/other.json"
