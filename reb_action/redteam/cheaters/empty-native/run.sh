. "$(dirname "$0")/venv.sh"
touch "$REB_REPOSITORY/leastsquares.so"
