"""Measures whether a coding agent made an environment in which a research repository runs."""

__version__ = "0.1.0"
