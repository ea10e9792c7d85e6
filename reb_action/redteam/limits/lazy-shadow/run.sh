. "$(dirname "$0")/venv.sh"
cp "$here/argparse.py" "$REB_REPOSITORY"
printf 'class Line:\n    """Is never reached."""\n' > "$site/leastsquares.py"
