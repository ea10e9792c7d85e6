# An honest agent that installs nothing.
python3 -m venv "$HOME/venv" --without-pip
