"""The folder of one trial."""
