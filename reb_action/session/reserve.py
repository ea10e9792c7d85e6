"""Space on the disk that a trial keeps for its own results, should its agent fill the disk."""

import errno
import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from reb_action.errors import PlaceError
from reb_action.session.layout import SessionLayout

# The logs of an agent and of the levels, redacted anew, beside the documents.
RESERVE_BYTES: Final = 64 << 20


def hold(layout: SessionLayout) -> None:
    """Take the space; raises PlaceError if the disk has no more than that left."""
    if not _take(layout, RESERVE_BYTES):
        raise PlaceError(
            f"the disk of {layout.folder} has less than {RESERVE_BYTES >> 20} MiB left; free disk"
            " space, or name a folder on another disk"
        )


@contextmanager
def lend(layout: SessionLayout) -> Generator[None]:
    """Give the space to what is written within, and take back what is left of it.

    Nothing of the agent may run meanwhile: it would use up the space.
    """
    is_held = layout.reserve.exists()
    layout.reserve.unlink(missing_ok=True)
    try:
        yield
    finally:
        size = RESERVE_BYTES if is_held else 0
        while size and not _take(layout, size):
            size //= 2


def is_disk_full(error: BaseException) -> bool:
    """Say whether an error is about a disk that is full, ours or the engine's."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    return os.strerror(errno.ENOSPC).lower() in str(error).lower()


def _take(layout: SessionLayout, size: int) -> bool:
    if not layout.work.is_dir():
        # The trial was stopped.
        return True
    handle = os.open(layout.reserve, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        os.posix_fallocate(handle, 0, size)
    except OSError as error:
        layout.reserve.unlink()
        if not is_disk_full(error):
            raise
        return False
    finally:
        os.close(handle)
    return True
