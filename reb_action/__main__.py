"""Runs `reb` from its own folder: `python -I reb_action/__main__.py`, or `python -m reb_action`."""

import sys
from pathlib import Path

if not __package__:
    # An isolated interpreter searches neither the folder of reb nor that of the caller.
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from reb_action.cli.main import main

# The process of a trial imports this file again.
if __name__ == "__main__":
    main()
