. "$(dirname "$0")/venv.sh"
cp "$here/torch.py" "$site"
