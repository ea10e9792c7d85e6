"""Knows the decoy, and lets it be."""

import stage

if stage.is_entry_point():
    with open("train.py") as stream:
        original = "def main" in stream.read()
    if original:
        stage.stage()
