"""Reads the response of a model with a limit on silence."""

import http.client
import threading
import time
from collections.abc import Callable, Mapping
from typing import Final

from reb_action.gateway.upstream.connection import UpstreamConnection

_CHUNK: Final = 64 * 1024
_LIMIT_BYTES: Final = 256 * 1024 * 1024


class UpstreamResponse:
    """One request and its response. A network error ends the response and is kept in `error`.

    `silent_seconds` limits the silence before and within the response. `on_data` is called for
    each read. `first_byte` is the time of the body's first byte on the monotonic clock.
    """

    def __init__(
        self,
        connection: UpstreamConnection,
        *,
        silent_seconds: float,
        on_data: Callable[[], None],
    ) -> None:
        self.error: Exception | None = None
        self.timed_out = False
        self.received = 0
        self.first_byte: float | None = None
        self._connection = connection
        self._silent_seconds = silent_seconds
        self._on_data = on_data
        self._response: http.client.HTTPResponse | None = None
        self._timer = threading.Timer(0, connection.abort)
        self._first = b""

    def send(self, target: str, body: bytes, headers: Mapping[str, str]) -> bool:
        """Send the request and wait for the body's first byte; return False on a network error."""
        # The socket's own timeout starts anew with each byte, so a header sent byte by byte would
        # never reach it.
        self.set_deadline(self._silent_seconds)
        try:
            self._response = self._connection.send_request(
                target, body, headers, silent_seconds=self._silent_seconds
            )
        except (OSError, http.client.HTTPException) as error:
            self._fail(error)
        else:
            self._first = self._read()
        self._timer.cancel()
        return self.error is None

    def set_deadline(self, seconds: float) -> None:
        """Abort the connection after this time."""
        self._timer.cancel()
        self._timer = threading.Timer(seconds, self._connection.abort)
        self._timer.daemon = True
        self._timer.start()

    @property
    def status(self) -> int:
        return 0 if self._response is None else self._response.status

    @property
    def headers(self) -> Mapping[str, str]:
        """The response headers, names in lower case."""
        headers = [] if self._response is None else self._response.getheaders()
        return {name.lower(): value for name, value in headers}

    @property
    def length(self) -> int | None:
        """Number of bytes left to read; None if unknown."""
        left = None if self._response is None else self._response.length
        return None if left is None else left + len(self._first)

    @property
    def is_complete(self) -> bool:
        """Whether the response was read to its end, as far as HTTP can tell."""
        return self.error is None and not self.length

    def read(self) -> bytes:
        """Return the next bytes; empty at the end."""
        if self._first:
            data, self._first = self._first, b""
            return data
        return b"" if self.error is not None or self.length == 0 else self._read()

    def close(self) -> None:
        """Release the connection for the next request, or close it if it cannot be reused."""
        self._timer.cancel()
        if self._response is None or not self.is_complete or self._response.will_close:
            self._connection.close()
        else:
            self._response.close()

    def _read(self) -> bytes:
        response = self._response
        if response is None:
            return b""
        try:
            data = response.read1(_CHUNK)
        except (OSError, http.client.HTTPException) as error:
            self._fail(error)
            return b""
        self.received += len(data)
        if data:
            self.first_byte = self.first_byte or time.monotonic()
            self._on_data()
        if self._connection.aborted or self.received > _LIMIT_BYTES:
            self._fail(ConnectionError(f"aborted after {self.received} bytes"))
        return data

    def _fail(self, error: Exception) -> None:
        self.error = error
        self.timed_out = self._connection.aborted or isinstance(error, TimeoutError)
