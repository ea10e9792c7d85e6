"""Reads the response of a model with a limit on silence."""

import http.client
import threading
import time
import zlib
from collections.abc import Callable, Mapping
from typing import Final

from reb_action.gateway.upstream.connection import UpstreamConnection
from reb_action.gateway.upstream.decompression import COMPRESSIONS, Decoder

_CHUNK: Final = 64 * 1024
_LIMIT_BYTES: Final = 256 * 1024 * 1024


class UpstreamResponse:
    """One request and its response. A network error ends the response and is kept in `error`.

    `silent_seconds` limits the silence before and within the response. `on_data` is called for
    each read. `first_byte` is the time of the body's first byte on the monotonic clock. A response
    that is compressed although the request did not ask for it is decompressed.
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
        self._decoder: Decoder | None = None

    def send(self, target: str, body: bytes, headers: Mapping[str, str]) -> bool:
        """Send the request and wait for the body's first byte; return False on a network error."""
        # The socket's own timeout restarts with each byte, so a header sent byte by byte would
        # never reach it.
        self.set_deadline(self._silent_seconds)
        try:
            self._response = self._connection.send_request(
                target, body, headers, silent_seconds=self._silent_seconds
            )
        except (OSError, http.client.HTTPException) as error:
            self._fail(error)
        else:
            self._start_decoder()
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
    def request_sent(self) -> bool:
        """Whether the vendor got the whole request, so that it may charge for it."""
        return self._connection.request_sent

    @property
    def status(self) -> int:
        return 0 if self._response is None else self._response.status

    @property
    def headers(self) -> Mapping[str, str]:
        """The response headers, names in lower case."""
        pairs = [] if self._response is None else self._response.getheaders()
        headers = {name.lower(): value for name, value in pairs}
        if self._decoder is not None:
            del headers["content-encoding"]
        return headers

    @property
    def length(self) -> int | None:
        """Number of bytes left to read; None if unknown."""
        if self._decoder is not None:
            return len(self._first) if self._decoder.finished else None
        left = None if self._response is None else self._response.length
        return None if left is None else left + len(self._first)

    @property
    def is_complete(self) -> bool:
        """Whether the response was read to its end, as far as HTTP and compression can tell."""
        if self.error is not None or self.length:
            return False
        return self._decoder is None or self._decoder.finished

    def read(self) -> bytes:
        """Return the next bytes; empty at the end."""
        if self._first:
            data, self._first = self._first, b""
            return data
        return b"" if self.error is not None or self.length == 0 else self._read()

    def read_all(self, limit: int) -> bytes:
        """Return the rest of the body; it ends with the read that passes the limit."""
        body = bytearray()
        while len(body) <= limit and (data := self.read()):
            body += data
        return bytes(body)

    def close(self) -> None:
        """Release the connection for the next request, or close it if it cannot be reused."""
        self._timer.cancel()
        is_reusable = self.is_complete and self._decoder is None
        if self._response is None or not is_reusable or self._response.will_close:
            self._connection.close()
        else:
            self._response.close()

    def _read(self) -> bytes:
        response = self._response
        if response is None:
            return b""
        try:
            data = self._read_body(response)
        except (OSError, http.client.HTTPException, zlib.error) as error:
            self._fail(error)
            return b""
        self.received += len(data)
        if data:
            self.first_byte = self.first_byte or time.monotonic()
            self._on_data()
        if self._connection.aborted or self.received > _LIMIT_BYTES:
            self._fail(ConnectionError(f"aborted after {self.received} bytes"))
        return data

    def _start_decoder(self) -> None:
        response = self._response
        coding = "" if response is None else response.getheader("content-encoding", "").lower()
        if coding in COMPRESSIONS:
            self._decoder = Decoder()
        elif coding not in ("", "identity"):
            self._fail(ConnectionError(f"the model answered with Content-Encoding: {coding}"))

    def _read_body(self, response: http.client.HTTPResponse) -> bytes:
        if self._decoder is None:
            return response.read1(_CHUNK)
        return self._decoder.read(response.read1, _CHUNK)

    def _fail(self, error: Exception) -> None:
        self.error = error
        self.timed_out = self._connection.aborted or isinstance(error, TimeoutError)
