"""Lets an agent reach hosts that are allowed by name, and no others: an HTTP proxy."""

import http.client
import re
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from typing import Final
from urllib.parse import SplitResult, urlsplit

from reb_action.errors import UsageError
from reb_action.gateway.egress import plain_http
from reb_action.gateway.handler import Egress
from reb_action.gateway.upstream.connection import login, proxy_of

Onward = Callable[[SplitResult], SplitResult | None]
"""Says through which proxy of this machine's network an address is reached, if through one."""

_PATTERN: Final = re.compile(r"(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*(:[0-9]{1,5})?")
_PORTS: Final = (80, 443)
_CONNECT_SECONDS: Final = 30
_CHUNK_BYTES: Final = 64 * 1024
# RFC 1035, 2.3.4, with the underscore that some names have; RFC 3986, 3.2.1.
_NAME_CHARS: Final = 253
_NAME: Final = r"((?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}\.?)"
_TUNNEL: Final = re.compile(rf"{_NAME}:([0-9]{{1,5}})", re.ASCII | re.IGNORECASE)
_PLAIN: Final = re.compile(
    rf"(?:[a-z0-9._~!$&'()*+,;=:%-]*@)?{_NAME}(?::([0-9]{{0,5}}))?", re.ASCII | re.IGNORECASE
)
_LARGEST_PORT: Final = 65535


def parse_hosts(text: str) -> tuple[str, ...]:
    """Return the hosts of a list such as `pypi.org, *.pythonhosted.org, mirror:8080`.

    Without a port they mean 80 and 443; `*.` stands for any number of labels, and at least one.
    """
    hosts = tuple(text.lower().replace(",", " ").split())
    for host in hosts:
        if not _PATTERN.fullmatch(host):
            raise UsageError(f"{host!r} is no host to allow; write one such as *.pythonhosted.org")
    return hosts


def is_allowed(hosts: tuple[str, ...], host: str, port: int) -> bool:
    """Say whether one of `hosts` means this name and port."""
    name = host.lower().rstrip(".")
    for pattern in hosts:
        wanted, _, own = pattern.partition(":")
        ports = (int(own),) if own else _PORTS
        same = name.endswith(wanted[1:]) if wanted.startswith("*.") else name == wanted
        if same and port in ports:
            return True
    return False


def egress(hosts: tuple[str, ...], *, onward: Onward = proxy_of) -> Egress:
    """Return what answers the requests of a proxy for these hosts."""
    return lambda handler: _answer(handler, hosts, onward)


def _answer(handler: BaseHTTPRequestHandler, hosts: tuple[str, ...], onward: Onward) -> None:
    handler.close_connection = True
    target = _target(handler)
    if target is None:
        handler.send_error(400, "no host and port")
        return
    host, port = target
    if not is_allowed(hosts, host, port):
        handler.send_error(403, "this host is not allowed in this trial")
        return
    tunnel = handler.command == "CONNECT"
    fault = None if tunnel else plain_http.fault(handler)
    if fault is not None:
        handler.send_error(*fault)
        return
    try:
        proxy = onward(urlsplit(f"{'https' if tunnel else 'http'}://{host}:{port}"))
        far = _reached(host, port, proxy, tunnel=tunnel)
    except (OSError, ValueError, http.client.HTTPException):
        # Also a name that IDNA does not know, and a proxy that speaks no HTTP.
        handler.send_error(502, "the host cannot be reached")
        return
    with far:
        if tunnel:
            _join(handler, far)
        else:
            start, own = _first(handler, target, proxy)
            plain_http.carry(handler, far, start=start, own=own)


def _reached(host: str, port: int, proxy: SplitResult | None, *, tunnel: bool) -> socket.socket:
    """Connect to a host, or to the proxy of this machine's network that leads there."""
    if proxy is None:
        return socket.create_connection((host, port), timeout=_CONNECT_SECONDS)
    place = (proxy.hostname or "", proxy.port or 80)
    if not tunnel:
        return socket.create_connection(place, timeout=_CONNECT_SECONDS)
    connection = http.client.HTTPConnection(*place, timeout=_CONNECT_SECONDS)
    connection.set_tunnel(host, port, login(proxy))
    try:
        connection.connect()
    except BaseException:
        connection.close()
        raise
    return connection.sock


def _target(handler: BaseHTTPRequestHandler) -> tuple[str, int] | None:
    """Return the host, in small letters, and the port; None for what is no name and port."""
    connect = handler.command == "CONNECT"
    try:
        url = urlsplit(handler.path)
    except ValueError:
        return None
    if not connect and url.scheme != "http":
        return None
    found = _TUNNEL.fullmatch(handler.path) if connect else _PLAIN.fullmatch(url.netloc)
    if found is None or len(found[1]) > _NAME_CHARS:
        return None
    port = int(found[2] or 80)
    return (found[1].lower(), port) if 0 < port <= _LARGEST_PORT else None


def _first(
    handler: BaseHTTPRequestHandler, target: tuple[str, int], proxy: SplitResult | None
) -> tuple[str, dict[str, str]]:
    """Return the first line for the host itself or for a proxy, and the headers that we say."""
    host, port = target
    netloc = host if port == http.client.HTTP_PORT else f"{host}:{port}"
    url = urlsplit(handler.path)
    place = (url.path or "/") + (f"?{url.query}" if url.query else "")
    if proxy is not None:
        place = f"http://{netloc}{place}"
    return f"{handler.command} {place} HTTP/1.1", {"Host": netloc, **login(proxy)}


def _join(handler: BaseHTTPRequestHandler, far: socket.socket) -> None:
    # A long download is silent on one side.
    far.settimeout(None)
    handler.connection.settimeout(None)
    handler.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
    # What the handler has read ahead is still in its reader.
    to_far = threading.Thread(
        target=_copy, args=(handler.rfile.read1, far.sendall, far), daemon=True
    )
    to_far.start()
    _copy(far.recv, handler.connection.sendall, handler.connection)
    for end in (handler.connection, far):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
    to_far.join()


def _copy(
    read: Callable[[int], bytes], write: Callable[[bytes], None], target: socket.socket
) -> None:
    with suppress(OSError):
        while data := read(_CHUNK_BYTES):
            write(data)
        target.shutdown(socket.SHUT_WR)
