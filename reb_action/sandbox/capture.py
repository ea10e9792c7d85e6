"""Keeps the head and the tail of an output of any size, and hands it on as it comes."""

from reb_action.sandbox.protocol import Output


class Capture:
    """One stream: the first and the last half of `limit_bytes`; what lies between is counted."""

    def __init__(self, limit_bytes: int, *, pass_on: Output | None) -> None:
        self._head_limit = limit_bytes // 2
        self._tail_limit = limit_bytes - self._head_limit
        self._pass_on = pass_on
        self._head = bytearray()
        self._tail = bytearray()
        self._dropped = 0

    def feed(self, data: bytes) -> None:
        """Take the next piece."""
        if self._pass_on is not None:
            self._pass_on(data)
        room = self._head_limit - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        # Trimmed only when twice as long as it may be: each byte is moved once, not every time.
        if len(self._tail) > 2 * self._tail_limit:
            self._trim()

    def kept(self) -> bytes:
        """Return head and tail."""
        self._trim()
        return bytes(self._head + self._tail)

    @property
    def dropped_bytes(self) -> int:
        """How much of the middle is not in `kept()`."""
        return self._dropped + max(0, len(self._tail) - self._tail_limit)

    def _trim(self) -> None:
        excess = max(0, len(self._tail) - self._tail_limit)
        del self._tail[:excess]
        self._dropped += excess
