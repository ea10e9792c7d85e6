"""Forwards one plain HTTP request to a host and returns the response (no keep-alive)."""

import re
import socket
from collections.abc import Mapping
from contextlib import suppress
from http.client import HTTPException, HTTPResponse
from http.server import BaseHTTPRequestHandler
from typing import Final

_SILENT_SECONDS: Final = 300.0
_CHUNK_BYTES: Final = 64 * 1024
# RFC 9110, 7.6.1.
_HOP_BY_HOP: Final = frozenset(
    {"connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding"}
) | {"upgrade"}
# Headers for the proxy alone, and headers that the proxy sets or answers itself.
_OWN_HEADERS: Final = frozenset({"proxy-authorization", "host", "content-length", "expect"})
# RFC 9110, 5.5 and 5.6.2.
_HEADER_LINE: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t -~\x80-\xff]*")
_LENGTH: Final = re.compile(r"[0-9]{1,15}")


def check_length(handler: BaseHTTPRequestHandler) -> tuple[int, str] | None:
    """Return status and message for a request of unknown length; None if the length is known."""
    if handler.headers.get_all("transfer-encoding"):
        return 411, "a request needs a Content-Length here"
    lengths = set(handler.headers.get_all("content-length", []))
    if len(lengths) > 1 or not all(_LENGTH.fullmatch(length) for length in lengths):
        return 400, "invalid Content-Length"
    return None


def forward(
    handler: BaseHTTPRequestHandler,
    remote: socket.socket,
    *,
    request_line: str,
    headers: Mapping[str, str],
) -> None:
    """Send the client's request with this request line and our headers.

    A second request on the connection is not read: it could name another host.
    """
    content_length = handler.headers.get("content-length")
    body_size = 0 if content_length is None else int(content_length)
    lines = _header_lines(handler, headers, content_length)
    if not all(_HEADER_LINE.fullmatch(line) for line in lines):
        handler.send_error(400, "invalid header")
        return
    remote.settimeout(_SILENT_SECONDS)
    head = "\r\n".join((request_line, *lines, "Connection: close", "", ""))
    # A host may answer and close before it has read the whole request.
    with suppress(BrokenPipeError, ConnectionResetError):
        remote.sendall(head.encode("latin-1"))
        if not _forward_body(handler, remote, body_size):
            return
    _forward_response(handler, HTTPResponse(remote, method=handler.command))


def _header_lines(
    handler: BaseHTTPRequestHandler, headers: Mapping[str, str], content_length: str | None
) -> list[str]:
    dropped = _HOP_BY_HOP | _OWN_HEADERS
    kept = [(name, text) for name, text in handler.headers.items() if name.lower() not in dropped]
    length = {} if content_length is None else {"Content-Length": str(int(content_length))}
    pairs = (*headers.items(), *kept, *length.items())
    return [f"{name}: {_unfold(text)}" for name, text in pairs]


def _unfold(text: str) -> str:
    return re.sub(r"[\r\n]+[ \t]+", " ", text)


def _forward_body(handler: BaseHTTPRequestHandler, remote: socket.socket, size: int) -> bool:
    """Forward the body; return whether the client sent all of it."""
    while size and (data := handler.rfile.read1(min(size, _CHUNK_BYTES))):
        remote.sendall(data)
        size -= len(data)
    return not size


def _forward_response(handler: BaseHTTPRequestHandler, response: HTTPResponse) -> None:
    with response:
        try:
            response.begin()
        except (OSError, HTTPException, ValueError):
            handler.send_error(502, "the host sent no valid response")
            return
        is_http_1_0 = handler.request_version == "HTTP/1.0"
        chunked = response.chunked and handler.command != "HEAD" and not is_http_1_0
        _send_head(handler, response, chunked=chunked)
        # If the response is cut, the client sees it by the length or the missing last chunk.
        with suppress(OSError, HTTPException, ValueError):
            while data := response.read1(_CHUNK_BYTES):
                handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data) if chunked else data)
            if chunked:
                handler.wfile.write(b"0\r\n\r\n")


def _send_head(handler: BaseHTTPRequestHandler, response: HTTPResponse, *, chunked: bool) -> None:
    handler.send_response_only(response.status, response.reason)
    # Clients disagree on a response with both a length and chunks (RFC 9112, 6.3).
    dropped = _HOP_BY_HOP | {"content-length"} if chunked else _HOP_BY_HOP
    for name, text in response.headers.items():
        if name.lower() not in dropped:
            handler.send_header(name, _unfold(text))
    if chunked:
        handler.send_header("Transfer-Encoding", "chunked")
    handler.send_header("Connection", "close")
    handler.end_headers()
