"""What needs a real GPU: one script that runs all of it and prints a table (`session.py`)."""
