. "$(dirname "$0")/venv.sh"
