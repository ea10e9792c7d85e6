"""Verdicts and scoreboards as HTML, from Jinja templates that escape all output."""
