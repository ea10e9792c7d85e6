"""Qualifies levels: they pass in a right environment and fail in spoiled ones."""
