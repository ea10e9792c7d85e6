"""Listens for one agent at a Unix socket or a loopback port, with one thread per connection."""

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
_ANY_USER: Final = 0o666
_PATH_BYTES: Final = 107

HandlerFactory = Callable[[Any, Any, socketserver.BaseServer], BaseHTTPRequestHandler]


class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """Limits the number of connections and can close them all.

    Inherits because `socketserver` requires it.
    """

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, path: Path | None, handler: HandlerFactory) -> None:
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._path = path
        if path is not None:
            self.address_family = socket.AF_UNIX
            _prepare_socket_path(path)
        super().__init__(("127.0.0.1", 0) if path is None else str(path), handler)  # pyright: ignore[reportArgumentType] a path, for a Unix socket

    def server_bind(self) -> None:
        super().server_bind()
        if self._path is not None:
            # The agent runs as another user; only its sandbox sees this folder.
            self._path.chmod(_ANY_USER)

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        if self._path is None:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection, address

    def verify_request(self, request: Any, client_address: Any) -> bool:  # noqa: ANN401, ARG002 signature of socketserver
        with self._lock:
            if len(self._open) >= _CONNECTIONS:
                return False
            self._open.add(request)
        return True

    def close_request(self, request: Any) -> None:  # noqa: ANN401 signature of socketserver
        with self._lock:
            self._open.discard(request)
        super().close_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 signature of socketserver
        """Ignore a closed connection; print the traceback of any other error, which is a bug."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def close_connections(self) -> None:
        """Close every open connection."""
        with self._lock:
            for request in self._open:
                with suppress(OSError):
                    request.shutdown(socket.SHUT_RDWR)


def _prepare_socket_path(path: Path) -> None:
    if len(str(path).encode()) > _PATH_BYTES:
        raise PlaceError(
            f"the path {path} is too long for a socket (more than {_PATH_BYTES} bytes);"
            " use a folder with a shorter path"
        )
    path.unlink(missing_ok=True)
