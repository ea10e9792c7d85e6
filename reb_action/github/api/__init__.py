"""GitHub's REST API, as far as reb uses it."""
