"""Describes the file of an interpreter without running it: `python3 -I -S program.py PATH`."""

import json
import os
import sys

sys.path.append(os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
from survey_files import interpreter  # noqa: E402

if __name__ == "__main__":
    sys.stdout.write(json.dumps(interpreter(sys.argv[1])))
