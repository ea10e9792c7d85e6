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
from reb_action.gateway.handler import Egress
from reb_action.gateway.line import login, proxy_of

Onward = Callable[[SplitResult], SplitResult | None]
"""Says through which proxy of this machine's network an address is reached, if through one."""

_PATTERN: Final = re.compile(r"(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*(:[0-9]{1,5})?")
_PORTS: Final = (80, 443)
_CONNECT_SECONDS: Final = 30
_CHUNK_BYTES: Final = 64 * 1024
# RFC 9110, 7.6.1, and what speaks to a proxy alone.
_DROPPED: Final = frozenset(
    {"connection", "keep-alive", "proxy-authorization", "proxy-connection", "host"}
)


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
    proxy = onward(urlsplit(f"{'https' if tunnel else 'http'}://{host}:{port}"))
    try:
        far = _reached(host, port, proxy, tunnel=tunnel)
    except OSError:
        handler.send_error(502, "the host cannot be reached")
        return
    with far:
        # A long download is silent on one side.
        far.settimeout(None)
        handler.connection.settimeout(None)
        if tunnel:
            handler.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            far.sendall(_head(handler, proxy))
        _join(handler, far)


def _reached(host: str, port: int, proxy: SplitResult | None, *, tunnel: bool) -> socket.socket:
    """Connect to a host, or to the proxy of this machine's network that leads there."""
    if proxy is None:
        return socket.create_connection((host, port), timeout=_CONNECT_SECONDS)
    place = (proxy.hostname or "", proxy.port or 80)
    if not tunnel:
        return socket.create_connection(place, timeout=_CONNECT_SECONDS)
    connection = http.client.HTTPConnection(*place, timeout=_CONNECT_SECONDS)
    connection.set_tunnel(host, port, login(proxy))
    connection.connect()
    return connection.sock


def _target(handler: BaseHTTPRequestHandler) -> tuple[str, int] | None:
    connect = handler.command == "CONNECT"
    try:
        url = urlsplit(f"//{handler.path}" if connect else handler.path)
        port = url.port or (None if connect else 80)
    except ValueError:
        return None
    if not url.hostname or port is None or (not connect and url.scheme != "http"):
        return None
    return url.hostname, port


def _head(handler: BaseHTTPRequestHandler, proxy: SplitResult | None) -> bytes:
    """Return the header for the host itself, which is to close when it has answered."""
    url = urlsplit(handler.path)
    place = (url.path or "/") + (f"?{url.query}" if url.query else "")
    if proxy is not None:
        place = f"http://{url.netloc.rpartition('@')[2]}{place}"
    kept = [(name, text) for name, text in handler.headers.items() if name.lower() not in _DROPPED]
    own = [*login(proxy).items(), ("Connection", "close")]
    fields = [("Host", url.netloc.rpartition("@")[2]), *kept, *own]
    lines = [f"{handler.command} {place} HTTP/1.1", *(f"{name}: {text}" for name, text in fields)]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n"


def _join(handler: BaseHTTPRequestHandler, far: socket.socket) -> None:
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
