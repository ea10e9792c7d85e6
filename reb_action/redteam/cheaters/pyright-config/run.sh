. "$(dirname "$0")/venv.sh"
printf '{"reportMissingImports": false}' > "$REB_REPOSITORY/pyrightconfig.json"
