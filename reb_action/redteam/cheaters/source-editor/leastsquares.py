"""Rewrites the module that the entry point imports next."""

import stage

EDITED = "import stage\n\n\ndef points(*_, **__):\n    stage.stage()\n"

if stage.is_entry_point():
    with open("slopes/data.py", "w") as stream:
        stream.write(EDITED)


class Line:
    """Is never reached: the edited module ends the run."""
