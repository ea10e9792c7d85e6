. "$(dirname "$0")/venv.sh"
cp "$here/leastsquares.py" "$site"
