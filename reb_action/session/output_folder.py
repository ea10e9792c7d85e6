"""Clears the folder that a command fills each time, but no files of others."""

import os
import shutil
from pathlib import Path

from reb_action.errors import UsageError
from reb_action.session import state


def clear(folder: Path, *, by: str) -> None:
    """Empty a folder that the command `by` has filled before, or create it, and mark it.

    Raises UsageError if the folder has other content, or if that command still runs there.
    """
    mark = folder / f".{by}"
    if mark.is_file():
        if state.goes_on_in(mark):
            raise UsageError(f"another reb {by} is at work in {folder}; name another folder")
        shutil.rmtree(folder)
    elif folder.exists() and any(folder.iterdir()):
        raise UsageError(
            f"{folder} is not empty and was not created by reb {by}; choose another folder"
        )
    folder.mkdir(parents=True, exist_ok=True)
    state.mark(mark, state.process(os.getpid()))
