"""HTTP over a socket: reads a request, sends an answer, or breaks off as a network does."""

import socket
import struct
import sys
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True, kw_only=True)
class Reply:
    """An answer to send; `how` is one of whole, reset, cut and half."""

    status: int = 200
    headers: dict = field(default_factory=dict)
    data: bytes = b""
    how: str = "whole"


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """Say nothing of a client that went away: some tests are about that."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class Wire:
    """A server on loopback that asks `handle(verb, target, headers, data)` for each Reply."""

    def __init__(self, handle):
        self._server = Server(("127.0.0.1", 0), handler_of(handle))
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()


def handler_of(handle):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def respond(self):
            data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            send(self, handle(self.command, self.path, headers, data))

        def log_message(self, *_):
            pass

    for verb in ("GET", "POST", "PATCH", "PUT", "DELETE"):
        setattr(Handler, f"do_{verb}", Handler.respond)
    return Handler


def send(handler, reply):
    if reply.how == "reset":
        # Closing with a zero linger sends RST, not FIN.
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        handler.close_connection = True
        handler.connection.close()
        return
    half = reply.data[: len(reply.data) // 2]
    data = half if reply.how == "half" else reply.data
    handler.send_response_only(reply.status)
    for name, value in {"Content-Length": len(data), **reply.headers}.items():
        handler.send_header(name, str(value))
    handler.end_headers()
    handler.wfile.write(half if reply.how == "cut" else data)
    if reply.how == "cut":
        handler.close_connection = True
