"""The connection over which the engine carries the streams of one running command.

Opened by hand: the SDK takes the socket from below the buffer of http.client, so that output which
arrives together with the header of the answer is lost (https://github.com/docker/docker-py/issues/3332),
and it can neither wait with a limit nor close standard input alone.
"""

import selectors
import socket
import struct
import time
from types import TracebackType
from typing import Self

from reb_action.sandbox.capture import Capture

_HEADER = struct.Struct(">BxxxL")
_CHUNK_BYTES = 64 * 1024
_STDERR = 2


class ExecStream:
    """The started exec; leaving the block closes the connection, not the command."""

    def __init__(self, connection: socket.socket, *, stdin: bytes, demux: "Demux") -> None:
        self._connection = connection
        self._stdin = memoryview(stdin)
        self._demux = demux
        self._selector = selectors.DefaultSelector()
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if stdin else 0)
        self._selector.register(connection, events)
        connection.setblocking(False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._selector.close()
        self._connection.close()

    def step(self, seconds: float) -> bool | None:
        """Wait so long at most; True when output came, False when none came, None at its end."""
        came = False
        for _, events in self._selector.select(max(0.0, seconds)):
            if events & selectors.EVENT_WRITE:
                self._send()
            if events & selectors.EVENT_READ:
                came = self._receive()
                if not came:
                    return None
        return came

    def _send(self) -> None:
        try:
            sent = self._connection.send(self._stdin[:_CHUNK_BYTES])
            self._stdin = self._stdin[sent:]
        except (BrokenPipeError, ConnectionResetError):
            # The command ended without reading all of it.
            self._stdin = memoryview(b"")
        if not self._stdin:
            self._selector.modify(self._connection, selectors.EVENT_READ)
            half_close(self._connection)

    def _receive(self) -> bool:
        try:
            data = self._connection.recv(_CHUNK_BYTES)
        except ConnectionResetError:
            return False
        self._demux.feed(data)
        return bool(data)


class Demux:
    """Sorts the frames of the engine's stream, which carries both outputs, as they come."""

    def __init__(self, out: Capture, err: Capture) -> None:
        self._out, self._err = out, err
        self._header = b""
        self._current = out
        self._left = 0

    def feed(self, data: bytes) -> None:
        """Take the next piece, wherever it was cut."""
        while data:
            if self._left:
                piece, data = data[: self._left], data[self._left :]
                self._left -= len(piece)
                self._current.feed(piece)
            else:
                missing = _HEADER.size - len(self._header)
                self._header, data = self._header + data[:missing], data[missing:]
                self._begin_frame()

    def _begin_frame(self) -> None:
        if len(self._header) == _HEADER.size:
            kind, self._left = _HEADER.unpack(self._header)
            self._current = self._err if kind == _STDERR else self._out
            self._header = b""


def open_stream(
    path: str, exec_id: str, *, version: str, stdin: bytes, demux: Demux, timeout_seconds: float
) -> ExecStream:
    """Start an exec; OSError when the engine does not answer, or with anything but its streams."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(timeout_seconds)
        connection.connect(path)
        connection.sendall(_request(exec_id, version))
        demux.feed(_after_header(connection, time.monotonic() + timeout_seconds))
        return ExecStream(connection, stdin=stdin, demux=demux)
    except BaseException:
        connection.close()
        raise


def half_close(connection: socket.socket) -> None:
    """Close the command's standard input."""
    try:
        connection.shutdown(socket.SHUT_WR)
    except OSError:
        # The other side has closed the connection already.
        return


def _request(exec_id: str, version: str) -> bytes:
    body = b'{"Detach": false, "Tty": false}'
    lines = (
        f"POST /v{version}/exec/{exec_id}/start HTTP/1.1",
        "Host: docker",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        "Connection: Upgrade",
        "Upgrade: tcp",
    )
    return "\r\n".join(lines).encode("ascii") + b"\r\n\r\n" + body


def _after_header(connection: socket.socket, deadline: float) -> bytes:
    received = b""
    while b"\r\n\r\n" not in received:
        data = connection.recv(_CHUNK_BYTES)
        if not data or time.monotonic() > deadline:
            message = "the engine closed the connection of a command before it began"
            raise ConnectionError(message)
        received += data
    header, _, rest = received.partition(b"\r\n\r\n")
    if header.split()[1] not in (b"101", b"200"):
        message = rest.decode(errors="replace").strip() or header.decode(errors="replace")
        raise ConnectionError(message)
    return rest
