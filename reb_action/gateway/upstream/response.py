"""An answer of the model as it comes in, within the time that it has."""

import http.client
import threading
import time
from collections.abc import Callable, Mapping
from typing import Final

from reb_action.gateway.upstream.connection import UpstreamConnection

_CHUNK: Final = 64 * 1024
_LIMIT_BYTES: Final = 256 * 1024 * 1024


class Answer:
    """Reads one answer; what the network does wrong is its end and a `fault`, no exception.

    `silent_seconds` is how long the model may say nothing, at first as later. `heard` is called
    for all that comes. `first_byte` is when its body began, on the monotonic clock.
    """

    def __init__(
        self, line: UpstreamConnection, *, silent_seconds: float, heard: Callable[[], None]
    ) -> None:
        self.fault: Exception | None = None
        self.is_silent = False
        self.received = 0
        self.first_byte: float | None = None
        self._line = line
        self._silent_seconds = silent_seconds
        self._heard = heard
        self._response: http.client.HTTPResponse | None = None
        self._timer = threading.Timer(0, line.cut)
        self._first = b""

    def ask(self, target: str, body: bytes, headers: Mapping[str, str]) -> bool:
        """Send a request and wait for the first byte of the answer; tell whether it came."""
        # A timer besides the socket's: a header that comes letter by letter would reset that one.
        self.expect(self._silent_seconds)
        try:
            self._response = self._line.ask(
                target, body, headers, silent_seconds=self._silent_seconds
            )
        except (OSError, http.client.HTTPException) as fault:
            self._ends(fault)
        else:
            self._first = self._read()
        self._timer.cancel()
        return self.fault is None

    def expect(self, seconds: float) -> None:
        """Cut the connection when this time is over."""
        self._timer.cancel()
        self._timer = threading.Timer(seconds, self._line.cut)
        self._timer.daemon = True
        self._timer.start()

    @property
    def status(self) -> int:
        return 0 if self._response is None else self._response.status

    @property
    def headers(self) -> Mapping[str, str]:
        """Its headers, names in lower case."""
        found = [] if self._response is None else self._response.getheaders()
        return {name.lower(): value for name, value in found}

    @property
    def length(self) -> int | None:
        """How many bytes are still to be read, where that is known."""
        left = None if self._response is None else self._response.length
        return None if left is None else left + len(self._first)

    @property
    def is_whole(self) -> bool:
        """Whether it came to its end, as far as the network can tell."""
        return self.fault is None and not self.length

    def read(self) -> bytes:
        """Return the next part; an empty one at the end."""
        if self._first:
            data, self._first = self._first, b""
            return data
        return b"" if self.fault is not None or self.length == 0 else self._read()

    def close(self) -> None:
        """Give the connection back, or up where it is of no further use."""
        self._timer.cancel()
        if self._response is None or not self.is_whole or self._response.will_close:
            self._line.close()
        else:
            self._response.close()

    def _read(self) -> bytes:
        response = self._response
        if response is None:
            return b""
        try:
            data = response.read1(_CHUNK)
        except (OSError, http.client.HTTPException) as fault:
            self._ends(fault)
            return b""
        self.received += len(data)
        if data:
            self.first_byte = self.first_byte or time.monotonic()
            self._heard()
        if self._line.was_cut or self.received > _LIMIT_BYTES:
            self._ends(ConnectionError(f"it was cut after {self.received} bytes"))
        return data

    def _ends(self, fault: Exception) -> None:
        self.fault = fault
        self.is_silent = self._line.was_cut or isinstance(fault, TimeoutError)
