"""Runs `reb` from its own folder: `python -I reb_action/__main__.py`, or `python -m reb_action`."""

import sys
from pathlib import Path

if not __package__:
    # Isolated, an interpreter looks in no folder of ours, and in none of the caller's.
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from reb_action.cli.main import main

# The process of a trial imports this file again.
if __name__ == "__main__":
    main()
