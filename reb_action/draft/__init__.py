"""Drafts the manifest of a repository: what its files say, and what a trial run shows."""
