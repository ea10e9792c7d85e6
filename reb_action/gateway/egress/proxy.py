"""An HTTP proxy through which an agent reaches the allowed hosts and no others."""

import http.client
import re
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from typing import Final
from urllib.parse import SplitResult, urlsplit

from reb_action.gateway.egress import plain_http
from reb_action.gateway.egress.hosts import is_allowed
from reb_action.gateway.handler import EgressHandler
from reb_action.gateway.upstream.connection import find_proxy, proxy_authorization

ProxyLookup = Callable[[SplitResult], SplitResult | None]
"""Returns the proxy of this machine's network for a URL, or None for a direct connection."""

_CONNECT_SECONDS: Final = 30
_CHUNK_BYTES: Final = 64 * 1024
# RFC 1035, 2.3.4, with the underscore that some names have; RFC 3986, 3.2.1.
_NAME_CHARS: Final = 253
_NAME: Final = r"((?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}\.?)"
_CONNECT_TARGET: Final = re.compile(rf"{_NAME}:([0-9]{{1,5}})", re.ASCII | re.IGNORECASE)
_URL_TARGET: Final = re.compile(
    rf"(?:[a-z0-9._~!$&'()*+,;=:%-]*@)?{_NAME}(?::([0-9]{{0,5}}))?", re.ASCII | re.IGNORECASE
)
_MAX_PORT: Final = 65535


def create_proxy(
    hosts: tuple[str, ...], *, proxy_lookup: ProxyLookup = find_proxy
) -> EgressHandler:
    """Return a request handler of a proxy for these hosts."""
    return lambda handler: _answer(handler, hosts, proxy_lookup)


def _answer(
    handler: BaseHTTPRequestHandler, hosts: tuple[str, ...], proxy_lookup: ProxyLookup
) -> None:
    handler.close_connection = True
    target = _parse_target(handler)
    if target is None:
        handler.send_error(400, "invalid host or port")
        return
    host, port = target
    if not is_allowed(hosts, host, port):
        handler.send_error(403, "this host is not allowed in this trial")
        return
    is_tunnel = handler.command == "CONNECT"
    error = None if is_tunnel else plain_http.check_length(handler)
    if error is not None:
        handler.send_error(*error)
        return
    try:
        proxy = proxy_lookup(urlsplit(f"{'https' if is_tunnel else 'http'}://{host}:{port}"))
        remote = _connect(host, port, proxy, is_tunnel=is_tunnel)
    except (OSError, ValueError, http.client.HTTPException):
        # Includes names that IDNA rejects and proxies that do not speak HTTP.
        handler.send_error(502, "the host cannot be reached")
        return
    with remote:
        if is_tunnel:
            _run_tunnel(handler, remote)
        else:
            request_line, headers = _rewrite_request(handler, target, proxy)
            plain_http.forward(handler, remote, request_line=request_line, headers=headers)


def _connect(host: str, port: int, proxy: SplitResult | None, *, is_tunnel: bool) -> socket.socket:
    """Connect to the host, or to the proxy of this machine's network."""
    if proxy is None:
        return socket.create_connection((host, port), timeout=_CONNECT_SECONDS)
    address = (proxy.hostname or "", proxy.port or 80)
    if not is_tunnel:
        return socket.create_connection(address, timeout=_CONNECT_SECONDS)
    connection = http.client.HTTPConnection(*address, timeout=_CONNECT_SECONDS)
    connection.set_tunnel(host, port, proxy_authorization(proxy))
    try:
        connection.connect()
    except BaseException:
        connection.close()
        raise
    return connection.sock


def _parse_target(handler: BaseHTTPRequestHandler) -> tuple[str, int] | None:
    """Return host (lower case) and port of a request; None if they are invalid."""
    is_tunnel = handler.command == "CONNECT"
    try:
        url = urlsplit(handler.path)
    except ValueError:
        return None
    if not is_tunnel and url.scheme != "http":
        return None
    if is_tunnel:
        match = _CONNECT_TARGET.fullmatch(handler.path)
    else:
        match = _URL_TARGET.fullmatch(url.netloc)
    if match is None or len(match[1]) > _NAME_CHARS:
        return None
    port = int(match[2] or 80)
    return (match[1].lower(), port) if 0 < port <= _MAX_PORT else None


def _rewrite_request(
    handler: BaseHTTPRequestHandler, target: tuple[str, int], proxy: SplitResult | None
) -> tuple[str, dict[str, str]]:
    """Return the request line for the host or for a further proxy, and our own headers."""
    host, port = target
    netloc = host if port == http.client.HTTP_PORT else f"{host}:{port}"
    url = urlsplit(handler.path)
    path = (url.path or "/") + (f"?{url.query}" if url.query else "")
    if proxy is not None:
        path = f"http://{netloc}{path}"
    return f"{handler.command} {path} HTTP/1.1", {"Host": netloc, **proxy_authorization(proxy)}


def _run_tunnel(handler: BaseHTTPRequestHandler, remote: socket.socket) -> None:
    # During a long download one side is silent.
    remote.settimeout(None)
    handler.connection.settimeout(None)
    handler.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
    # The handler's reader may already hold bytes of the tunnel, so it is read, not the socket.
    upload = threading.Thread(
        target=_copy, args=(handler.rfile.read1, remote.sendall, remote), daemon=True
    )
    upload.start()
    _copy(remote.recv, handler.connection.sendall, handler.connection)
    for end in (handler.connection, remote):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
    upload.join()


def _copy(
    read: Callable[[int], bytes], write: Callable[[bytes], None], target: socket.socket
) -> None:
    with suppress(OSError):
        while data := read(_CHUNK_BYTES):
            write(data)
        target.shutdown(socket.SHUT_WR)
