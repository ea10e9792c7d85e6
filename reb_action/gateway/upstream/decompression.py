"""Decompresses a response body in bounded steps."""

import zlib
from collections.abc import Callable
from typing import Final

COMPRESSIONS: Final = ("gzip", "x-gzip", "deflate")

# Detects the gzip and zlib formats by their headers.
_ANY_FORMAT: Final = zlib.MAX_WBITS | 32


class Decoder:
    """Reads compressed data; raises zlib.error for invalid data."""

    def __init__(self) -> None:
        self._zlib = zlib.decompressobj(_ANY_FORMAT)

    @property
    def finished(self) -> bool:
        """Whether the end of the compressed data was reached."""
        return self._zlib.eof

    def read(self, read: Callable[[int], bytes], size: int) -> bytes:
        """Return at most `size` bytes; empty at the end. `read` returns compressed bytes."""
        while not self.finished:
            # A read may decompress to a thousand times its size; the rest of it comes first.
            raw = self._zlib.unconsumed_tail or read(size)
            data = self._zlib.decompress(raw, size)
            if data or not raw:
                return data
        return b""
