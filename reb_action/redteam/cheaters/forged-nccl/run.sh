. "$(dirname "$0")/venv.sh"
mkdir "$HOME/shims"
cp "$here/shim" "$HOME/shims/torchrun"
chmod +x "$HOME/shims/torchrun"
