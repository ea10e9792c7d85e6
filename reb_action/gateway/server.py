"""Listens for one agent, at a Unix socket or at a port of the loopback; a thread a connection."""

import socket
import socketserver
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, Final

from reb_action.errors import PlaceError

_CONNECTIONS: Final = 64
_ANYBODY: Final = 0o666
_PATH_BYTES: Final = 107

Handling = Callable[[Any, Any, socketserver.BaseServer], BaseHTTPRequestHandler]


class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """Gives an agent no more than so many connections, and can end them all.

    Inherits because `socketserver` wants it so.
    """

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, place: Path | None, handler: Handling) -> None:
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._place = place
        if place is not None:
            self.address_family = socket.AF_UNIX
            _check(place)
        super().__init__(("127.0.0.1", 0) if place is None else str(place), handler)  # pyright: ignore[reportArgumentType] a path, for a Unix socket

    def server_bind(self) -> None:
        super().server_bind()
        if self._place is not None:
            # The agent is another user, and only its sandbox has this folder.
            self._place.chmod(_ANYBODY)

    def get_request(self) -> tuple[socket.socket, Any]:
        accepted, address = super().get_request()
        if self._place is None:
            accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return accepted, address

    def verify_request(self, request: Any, client_address: Any) -> bool:  # noqa: ANN401, ARG002 as socketserver has it
        with self._lock:
            if len(self._open) >= _CONNECTIONS:
                return False
            self._open.add(request)
        return True

    def close_request(self, request: Any) -> None:  # noqa: ANN401 as socketserver has it
        with self._lock:
            self._open.discard(request)
        super().close_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 as socketserver has it
        """Say nothing of an agent that hangs up; anything else is a fault of ours and shows."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def hang_up(self) -> None:
        """End every connection."""
        with self._lock:
            for request in self._open:
                with suppress(OSError):
                    request.shutdown(socket.SHUT_RDWR)


def _check(place: Path) -> None:
    if len(str(place).encode()) > _PATH_BYTES:
        raise PlaceError(
            f"the path {place} is too long for a socket (more than {_PATH_BYTES} bytes);"
            " work in a folder with a shorter one"
        )
    place.unlink(missing_ok=True)
