"""Space on the disk that a trial keeps for its own results, should its agent fill the disk."""

import errno
import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Final

from reb_action.errors import PlaceError
from reb_action.session.layout import SessionLayout

# For the redacted logs of the agent and the levels, and for the documents.
RESERVE_BYTES: Final = 64 << 20
# A disk can also run out of inodes.
_FILES: Final = 32


def hold(layout: SessionLayout) -> None:
    """Reserve the space; raises PlaceError if the disk has no more than that left."""
    if not _take(layout, RESERVE_BYTES):
        raise PlaceError(
            f"the disk of {layout.folder} has less than {RESERVE_BYTES >> 20} MiB or {_FILES} files"
            " left; free disk space, or name a folder on another disk"
        )


@contextmanager
def lend(layout: SessionLayout) -> Generator[None]:
    """Release the space for writes within this context, and reserve the rest afterwards.

    No process of the agent may run meanwhile: it would use up the space.
    """
    is_held = layout.reserve.is_dir() and not layout.reserve.is_symlink()
    # In a local sandbox without namespaces the agent can put anything in its place.
    with suppress(OSError):
        _release(layout)
    try:
        yield
    finally:
        with suppress(OSError):
            size = RESERVE_BYTES if is_held else 0
            while size and not _take(layout, size):
                size //= 2


def is_disk_full(error: BaseException) -> bool:
    """Return whether an error means a full disk, of this machine or of the engine."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    return os.strerror(errno.ENOSPC).lower() in str(error).lower()


def _release(layout: SessionLayout) -> None:
    if layout.reserve.is_symlink() or not layout.reserve.is_dir():
        layout.reserve.unlink(missing_ok=True)
        return
    for path in layout.reserve.iterdir():
        path.unlink()
    layout.reserve.rmdir()


def _take(layout: SessionLayout, size: int) -> bool:
    if not layout.work.is_dir():
        # The trial was stopped.
        return True
    try:
        layout.reserve.mkdir()
        with (layout.reserve / "space").open("wb") as stream:
            os.posix_fallocate(stream.fileno(), 0, size)
        for number in range(_FILES * size // RESERVE_BYTES):
            (layout.reserve / str(number)).touch()
    except OSError as error:
        _release(layout)
        if not is_disk_full(error):
            raise
        return False
    return True
