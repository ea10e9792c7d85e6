. "$(dirname "$0")/venv.sh"
mkdir "$site/leastsquares"
touch "$site/leastsquares/__init__.py"
