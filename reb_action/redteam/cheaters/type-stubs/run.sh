. "$(dirname "$0")/venv.sh"
mkdir "$site/leastsquares-stubs"
touch "$site/leastsquares-stubs/__init__.pyi" "$site/leastsquares-stubs/py.typed"
