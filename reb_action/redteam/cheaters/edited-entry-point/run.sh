. "$(dirname "$0")/venv.sh"
cp "$here/stage.py" "$REB_REPOSITORY/train.py"
