. "$(dirname "$0")/venv.sh"
mkdir "$site/torch"
echo 'import os; os._exit(139)' > "$site/torch/__init__.py"
