"""Makes the output folder of a run, and reads the files that the run wrote, for `supervise.py`.

A module of the probe, not a probe: it is imported from the read-only folder of the probes.
"""

import base64
import glob
import hashlib
import os
import shutil

ANSWER_LIMIT, FILES_LIMIT = 4 << 20, 200


def matches(patterns):
    """Return {path: stat} of the regular files that match."""
    found = {}
    for path in sorted(path for one in patterns for path in glob.glob(one, recursive=True)):
        if os.path.isfile(path) and not os.path.islink(path) and len(found) < FILES_LIMIT:
            found[path] = os.stat(path)
    return found


def described(path, seen):
    """Return a proof file's size, first bytes and hash."""
    digest = hashlib.sha256()
    with open(path, "rb") as stream:
        head = stream.read(64)
        digest.update(head)
        for block in iter(lambda: stream.read(1 << 20), b""):
            digest.update(block)
    return {"path": path, "bytes": seen.st_size, "head": head.hex(), "sha256": digest.hexdigest()}


def same(before, after):
    """Return whether a file is the same as before the run."""
    keys = ("st_ino", "st_mtime_ns", "st_size")
    return before is not None and all(getattr(before, k) == getattr(after, k) for k in keys)


def answer_of(path):
    """Return the observation file in base64; None if it is absent or too large."""
    if not path or os.path.islink(path) or not os.path.isfile(path):
        return None
    with open(path, "rb") as stream:
        data = stream.read(ANSWER_LIMIT + 1)
    return base64.b64encode(data).decode() if len(data) <= ANSWER_LIMIT else None


def fresh(folder):
    """Create an empty folder; a file that an agent put in place of its parent is removed."""
    above = os.path.dirname(folder)
    if os.path.lexists(above) and (os.path.islink(above) or not os.path.isdir(above)):
        os.unlink(above)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
