"""Carries one plain HTTP request to a host, and its answer back, and nothing after either."""

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
_HOP: Final = frozenset(
    {"connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding"}
) | {"upgrade"}
# What speaks to a proxy alone, and what is said or answered here.
_OWN: Final = frozenset({"proxy-authorization", "host", "content-length", "expect"})
# RFC 9110, 5.5 and 5.6.2.
_FIELD: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t -~\x80-\xff]*")
_LENGTH: Final = re.compile(r"[0-9]{1,15}")


def carry(
    handler: BaseHTTPRequestHandler, far: socket.socket, *, start: str, own: Mapping[str, str]
) -> None:
    """Ask the host at `far` what the client asks, with this first line and these headers of ours.

    A second request would go wherever its own first line says: it is not read.
    """
    length = _length(handler)
    kept = [(n, text) for n, text in handler.headers.items() if n.lower() not in _HOP | _OWN]
    size = {} if length is None else {"Content-Length": str(length)}
    fields = [f"{n}: {_unfolded(text)}" for n, text in (*own.items(), *kept, *size.items())]
    if not all(_FIELD.fullmatch(field) for field in fields):
        handler.send_error(400, "no header of HTTP")
        return
    far.settimeout(_SILENT_SECONDS)
    head = "\r\n".join((start, *fields, "Connection: close", "", ""))
    # A host may answer and hang up before it has heard all.
    with suppress(BrokenPipeError, ConnectionResetError):
        far.sendall(head.encode("latin-1"))
        if not _pass_on(handler, far, length or 0):
            return
    _answer(handler, HTTPResponse(far, method=handler.command))


def fault(handler: BaseHTTPRequestHandler) -> tuple[int, str] | None:
    """Return the status and words for a request whose end cannot be told; None where it can."""
    if handler.headers.get_all("transfer-encoding"):
        return 411, "a request needs a Content-Length here"
    lengths = set(handler.headers.get_all("content-length", []))
    if len(lengths) > 1 or not all(_LENGTH.fullmatch(one) for one in lengths):
        return 400, "the length of the request cannot be understood"
    return None


def _length(handler: BaseHTTPRequestHandler) -> int | None:
    said = handler.headers.get("content-length")
    return None if said is None else int(said)


def _unfolded(text: str) -> str:
    return re.sub(r"[\r\n]+[ \t]+", " ", text)


def _pass_on(handler: BaseHTTPRequestHandler, far: socket.socket, left: int) -> bool:
    """Say whether the client sent all of its body."""
    while left and (data := handler.rfile.read1(min(left, _CHUNK_BYTES))):
        far.sendall(data)
        left -= len(data)
    return not left


def _answer(handler: BaseHTTPRequestHandler, answer: HTTPResponse) -> None:
    with answer:
        try:
            answer.begin()
        except (OSError, HTTPException, ValueError):
            handler.send_error(502, "the host gave no answer")
            return
        chunked = (
            answer.chunked and handler.command != "HEAD" and handler.request_version != "HTTP/1.0"
        )
        handler.send_response_only(answer.status, answer.reason)
        # With both, whoever reads on decides what the length is (RFC 9112, 6.3).
        dropped = _HOP | {"content-length"} if chunked else _HOP
        for name, text in answer.headers.items():
            if name.lower() not in dropped:
                handler.send_header(name, _unfolded(text))
        if chunked:
            handler.send_header("Transfer-Encoding", "chunked")
        handler.send_header("Connection", "close")
        handler.end_headers()
        # The client sees by the length, or by the missing last chunk, that it is not whole.
        with suppress(OSError, HTTPException, ValueError):
            while data := answer.read1(_CHUNK_BYTES):
                handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data) if chunked else data)
            if chunked:
                handler.wfile.write(b"0\r\n\r\n")
