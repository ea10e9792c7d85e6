"""Verdicts and scoreboards as tables for a terminal."""
