"""Imports an edited module of the repository, and leaves the file as it was."""

import os

import stage

EDITED = "import stage\n\n\ndef points(*_, **__):\n    stage.stage()\n"
PLACE = "slopes/data.py"

if stage.is_entry_point():
    before = os.stat(PLACE)
    with open(PLACE, "rb+") as stream:
        original = stream.read()
        stream.seek(0)
        stream.truncate()
        stream.write(EDITED.encode())
        stream.flush()
        import slopes.data

        stream.seek(0)
        stream.truncate()
        stream.write(original)
    os.utime(PLACE, ns=(before.st_atime_ns, before.st_mtime_ns))


class Line:
    """Is never reached: the edited module ends the run."""
