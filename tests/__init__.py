"""Tests: one folder for each of reb_action, and folders for what needs more than Python."""
