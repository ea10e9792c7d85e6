# An environment with nothing in it. Sourced by the scripts of cheaters; leaves $here and $site.
here=$(dirname "$0")
python3 -m venv "$HOME/venv" --without-pip
site=$(echo "$HOME"/venv/lib/python3*/site-packages)
cp "$here/stage.py" "$site"
