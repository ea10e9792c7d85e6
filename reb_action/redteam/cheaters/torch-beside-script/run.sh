. "$(dirname "$0")/venv.sh"
cp "$here/stage.py" "$REB_REPOSITORY/torch.py"
printf '\nstage()\n' >> "$REB_REPOSITORY/torch.py"
