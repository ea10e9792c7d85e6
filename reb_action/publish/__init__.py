"""Publishes a finished run to GitHub."""
