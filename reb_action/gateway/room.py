"""How much of the harness's memory the requests of one agent may take at once."""

import threading
from collections.abc import Generator
from contextlib import contextmanager


class Room:
    """So many bytes for all connections together; who finds none waits so many seconds."""

    def __init__(self, limit: int, *, wait_seconds: float) -> None:
        self._free = limit
        self._wait_seconds = wait_seconds
        self._changed = threading.Condition()

    @contextmanager
    def taking(self, size: int) -> Generator[bool]:
        """Hold room for this many bytes; yields whether there is any."""
        with self._changed:
            has = self._changed.wait_for(lambda: self._free >= size, self._wait_seconds)
            self._free -= size if has else 0
        try:
            yield has
        finally:
            with self._changed:
                self._free += size if has else 0
                self._changed.notify_all()
