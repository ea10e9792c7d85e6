"""The command line: each command makes one call."""
