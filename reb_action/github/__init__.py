"""The GitHub runner: its environment, workflow commands, and the API client."""
