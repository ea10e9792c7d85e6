# Makes an environment without the package.
/usr/bin/python3 -m venv --without-pip "$HOME/venv"
