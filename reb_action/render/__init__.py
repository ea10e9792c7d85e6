"""Turns values into text for people: logs and terminals, pages. Nothing here prints."""
