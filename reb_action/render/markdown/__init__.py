"""Verdicts and scoreboards as Markdown, for GitHub."""
