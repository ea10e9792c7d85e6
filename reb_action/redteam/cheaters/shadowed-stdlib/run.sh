. "$(dirname "$0")/venv.sh"
cp "$here/argparse.py" "$REB_REPOSITORY"
