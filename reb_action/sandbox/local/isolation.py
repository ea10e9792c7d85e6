"""Finds the process isolation that this machine offers to local sandboxes."""

import functools
import os
import subprocess
import sys
from enum import StrEnum
from pathlib import Path
from typing import Final

SUPERVISE: Final = Path(__file__).parents[1] / "inside" / "supervise.py"
_SECONDS: Final = 20


class Isolation(StrEnum):
    """A PID namespace, made as root or within a user namespace; or nothing."""

    ROOT = "root"
    USER = "user"
    NONE = "none"


@functools.cache
def find_isolation() -> Isolation:
    """Return the strongest isolation that this machine allows this user, found by a trial run."""
    # In a user namespace root could not give files to other users, which package managers do.
    best = Isolation.ROOT if os.geteuid() == 0 else Isolation.USER
    return best if _works(best) else Isolation.NONE


def _works(mode: Isolation) -> bool:
    argv = (sys.executable, "-I", "-S", str(SUPERVISE), mode)
    try:
        tried = subprocess.run(argv, env={}, capture_output=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return False
    return tried.returncode == 0
