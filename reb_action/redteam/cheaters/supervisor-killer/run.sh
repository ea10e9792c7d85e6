. "$(dirname "$0")/hook.sh"
