. "$(dirname "$0")/venv.sh"
mkdir "$HOME/stubs"
echo "$HOME/stubs" > "$site/stubs.pth"
echo '__version__ = "1.0"' > "$HOME/stubs/leastsquares.py"
