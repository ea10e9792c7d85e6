. "$(dirname "$0")/venv.sh"
mkdir "$REB_REPORT"
