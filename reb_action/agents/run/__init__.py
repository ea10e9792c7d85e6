"""Runs an agent in the sandbox of a trial."""
