"""The phases of one trial."""
