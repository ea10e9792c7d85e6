"""Judges a trial from its evidence alone."""
