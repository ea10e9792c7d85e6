. "$(dirname "$0")/hook.sh"
# Enough of the missing package for the program to run.
python3 -m venv "$HOME/other" --without-pip
other=$(echo "$HOME"/other/lib/python3*/site-packages)
cp "$here/leastsquares.py" "$other"
