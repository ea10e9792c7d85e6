. "$(dirname "$0")/venv.sh"
cp "$here/report.json" "$HOME/report.json"
cp "$here/writer.py" "$HOME"
cd "$REB_REPOSITORY"
nohup setsid python3 "$HOME/writer.py" < /dev/null > /dev/null 2>&1 &
