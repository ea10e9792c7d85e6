. "$(dirname "$0")/venv.sh"
sed "s|{home}|$HOME|" "$here/honest.json" > "$HOME/other.json"
ln -s "$HOME/other.json" "$REB_REPORT"
