"""Reads request bodies with a size limit, and limits the memory of all bodies together."""

import threading
from collections.abc import Generator
from contextlib import contextmanager
from email.message import Message
from io import BufferedIOBase
from typing import Final

from reb_action.gateway.request import Refusal

LIMIT_BYTES: Final = 32 * 1024 * 1024
"""Anthropic's limit for a request; the other vendors accept no larger JSON."""

_TOO_LARGE: Final = Refusal(status=413, message=f"the request has more than {LIMIT_BYTES} bytes")
_MALFORMED: Final = Refusal(status=400, message="invalid Content-Length or Transfer-Encoding")
_LINE_BYTES: Final = 1024
_TRAILERS: Final = 10


class BodyMemory:
    """Memory for request bodies, shared by all connections of a gateway."""

    def __init__(self, size: int, *, wait_seconds: float) -> None:
        self._free = size
        self._wait_seconds = wait_seconds
        self._changed = threading.Condition()

    @contextmanager
    def reserve(self, size: int) -> Generator[bool]:
        """Reserve memory for the `with` block; yields False if none became free in time."""
        with self._changed:
            reserved = self._changed.wait_for(lambda: self._free >= size, self._wait_seconds)
            self._free -= size if reserved else 0
        try:
            yield reserved
        finally:
            with self._changed:
                self._free += size if reserved else 0
                self._changed.notify_all()


def max_body_size(headers: Message) -> int:
    """Return the largest size that the body of a request with these headers may have."""
    length = headers.get("content-length", "")
    if headers.get("transfer-encoding") is not None:
        return LIMIT_BYTES
    is_valid = length.isascii() and length.isdigit() and len(length) <= len(str(LIMIT_BYTES))
    return min(int(length), LIMIT_BYTES) if is_valid else 0


def read_body(stream: BufferedIOBase, headers: Message) -> bytes | Refusal:
    """Return the body or the reason to refuse it; raises ConnectionError if it is cut short."""
    lengths = set(headers.get_all("content-length", []))
    codings = headers.get_all("transfer-encoding", [])
    if codings:
        # A request with both headers is an attempt at request smuggling (RFC 9112, 6.1).
        chunked = [coding.strip().lower() for coding in codings] == ["chunked"] and not lengths
        return _read_chunks(stream) if chunked else _MALFORMED
    if len(lengths) != 1:
        return _MALFORMED
    (length,) = lengths
    if not (length.isascii() and length.isdigit() and len(length) < len(str(LIMIT_BYTES**2))):
        return _MALFORMED
    return _TOO_LARGE if int(length) > LIMIT_BYTES else _read_exactly(stream, int(length))


def _read_chunks(stream: BufferedIOBase) -> bytes | Refusal:
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
        body += _read_exactly(stream, size)
        if size == 0:
            return bytes(body) if _skip_trailers(stream) else _MALFORMED
        if stream.readline(_LINE_BYTES).strip():
            return _MALFORMED


def _skip_trailers(stream: BufferedIOBase) -> bool:
    return any(not stream.readline(_LINE_BYTES).strip() for _ in range(_TRAILERS))


def _read_exactly(stream: BufferedIOBase, size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise ConnectionError("the request body is cut short")
    return data
