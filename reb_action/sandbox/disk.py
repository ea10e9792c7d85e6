"""Watches the disk of a sandbox: ends a command that fills it while others can still write."""

import os
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from reb_action.sandbox.protocol import Until

DISK_FULL: Final = "the disk was full"
"""Why a command was ended that filled the disk of its sandbox."""

_MIB: Final = 1 << 20
_RESERVE_BYTES: Final = 1 << 30
# A disk that is nearly full at the start must not end the command immediately.
_RESERVE_SHARE: Final = 4
_LEAST_PAUSE_SECONDS: Final = 1.0
# Measuring reads the whole folder: a tenth of the time at most.
_PAUSE_SHARE: Final = 10


class DiskWatch:
    """Detects a full disk of a sandbox: its own limit is reached, or the machine's disk is full.

    `folder` is on the disk of the sandbox; None if this process cannot see it. `measure` returns
    the bytes that the sandbox uses, None for unknown; a separate thread calls it, and only with
    `limit_mib`.
    """

    def __init__(
        self, folder: Path | None, *, limit_mib: int | None, measure: Callable[[], int | None]
    ) -> None:
        self._folder = folder
        self._limit_mib = limit_mib
        self._measure = measure
        self._reserve = min(_RESERVE_BYTES, (self._free_bytes() or 0) // _RESERVE_SHARE)
        self.is_full = False

    @contextmanager
    def watch(self, until: Until | None) -> Generator[Until]:
        """Watch while a command runs; the `Until` that is given also ends it for its disk."""
        stop = threading.Event()
        thread = threading.Thread(target=self._follow, args=(stop,), daemon=True)
        if self._limit_mib is not None:
            thread.start()
        try:
            yield lambda: self._find_reason() or (None if until is None else until())
        finally:
            stop.set()
            if self._limit_mib is not None:
                thread.join()

    def _find_reason(self) -> str | None:
        free = self._free_bytes()
        self.is_full = self.is_full or (free is not None and free < self._reserve)
        return DISK_FULL if self.is_full else None

    def _follow(self, stop: threading.Event) -> None:
        limit = (self._limit_mib or 0) * _MIB
        pause = 0.0
        while not stop.wait(pause):
            begun = time.monotonic()
            used = self._measure()
            if used is not None and used > limit:
                self.is_full = True
                return
            pause = max(_LEAST_PAUSE_SECONDS, _PAUSE_SHARE * (time.monotonic() - begun))

    def _free_bytes(self) -> int | None:
        if self._folder is None:
            return None
        try:
            disk = os.statvfs(self._folder)
        except OSError:
            return None
        return disk.f_bavail * disk.f_frsize
