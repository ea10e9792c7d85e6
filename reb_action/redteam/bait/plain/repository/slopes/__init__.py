"""Lines through noisy points."""
