"""Reads the body of a request, whole and bounded."""

import threading
from collections.abc import Generator
from contextlib import contextmanager
from email.message import Message
from io import BufferedIOBase
from typing import Final

from reb_action.gateway.request import Refusal

LIMIT_BYTES: Final = 32 * 1024 * 1024
"""The largest request that Anthropic takes; the others take no more in one JSON."""

_TOO_LARGE: Final = Refusal(status=413, message=f"the request has more than {LIMIT_BYTES} bytes")
_MALFORMED: Final = Refusal(status=400, message="the length of the request cannot be understood")
_LINE_BYTES: Final = 1024


def room_for(headers: Message) -> int:
    """Return how many bytes a body may take; where it does not say, all that it may have."""
    length = headers.get("content-length", "")
    if headers.get("transfer-encoding") is not None:
        return LIMIT_BYTES
    fits = length.isascii() and length.isdigit() and len(length) <= len(str(LIMIT_BYTES))
    return min(int(length), LIMIT_BYTES) if fits else 0


def read_body(stream: BufferedIOBase, headers: Message) -> bytes | Refusal:
    """Return the body, or why it cannot be had; raises ConnectionError when it ends too soon."""
    lengths = set(headers.get_all("content-length", []))
    codings = headers.get_all("transfer-encoding", [])
    if codings:
        # Both at once is how requests are smuggled (RFC 9112, 6.1).
        chunked = [coding.strip().lower() for coding in codings] == ["chunked"] and not lengths
        return _chunks(stream) if chunked else _MALFORMED
    if len(lengths) != 1:
        return _MALFORMED
    (length,) = lengths
    if not (length.isascii() and length.isdigit() and len(length) < len(str(LIMIT_BYTES**2))):
        return _MALFORMED
    return _TOO_LARGE if int(length) > LIMIT_BYTES else _exactly(stream, int(length))


def _chunks(stream: BufferedIOBase) -> bytes | Refusal:
    body = bytearray()
    while True:
        line = stream.readline(_LINE_BYTES)
        try:
            size = int(line.partition(b";")[0].strip() or b"?", 16)
        except ValueError:
            return _MALFORMED
        if size < 0:
            return _MALFORMED
        if len(body) + size > LIMIT_BYTES:
            return _TOO_LARGE
        body += _exactly(stream, size)
        if size == 0:
            return bytes(body) if _ends(stream) else _MALFORMED
        if stream.readline(_LINE_BYTES).strip():
            return _MALFORMED


def _ends(stream: BufferedIOBase) -> bool:
    # Trailers are read and forgotten; a few of them are enough for anybody.
    return any(not stream.readline(_LINE_BYTES).strip() for _ in range(10))


def _exactly(stream: BufferedIOBase, size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise ConnectionError("the request ends before its end")
    return data


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
