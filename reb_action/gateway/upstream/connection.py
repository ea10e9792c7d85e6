"""A connection to the model, kept from call to call."""

import http.client
import select
import socket
import ssl
import urllib.request
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit

from reb_action.errors import UsageError

_CONNECT_SECONDS: Final = 30.0


class UpstreamConnection:
    """Asks one address and no other, through the proxy of the environment where there is one.

    One thread asks and reads; any thread may cut, which ends the reading at once.
    """

    def __init__(self, base_url: str) -> None:
        self._url = parse(base_url)
        self._proxy = proxy_of(self._url)
        self._connection: http.client.HTTPConnection | None = None
        self._socket: socket.socket | None = None
        self.was_cut = False

    def ask(
        self, target: str, body: bytes, headers: Mapping[str, str], *, silent_seconds: float
    ) -> http.client.HTTPResponse:
        """Send a POST and return the answer once its header is here; OSError or HTTPException."""
        connection = self._connected()
        connection.timeout = silent_seconds
        if self._socket is not None:
            self._socket.settimeout(silent_seconds)
        through = self._proxy if self._url.scheme == "http" else None
        start = f"http://{self._url.netloc}" if through is not None else ""
        path = f"{start}{self._url.path.rstrip('/')}{target}"
        connection.request("POST", path, body, {**headers, **login(through)})
        return connection.getresponse()

    def hurry(self, seconds: float) -> None:
        """Wait no longer than this for each further byte."""
        if self._socket is not None:
            self._socket.settimeout(seconds)

    def cut(self) -> None:
        """End what is being read."""
        self.was_cut = True
        if self._socket is not None:
            try:
                # Not that of an SSL socket, which would pull the session away from its reader.
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
            except OSError:
                return

    def close(self) -> None:
        """Give up the connection; the next call makes another."""
        if self._connection is not None:
            self._connection.close()
        self._connection = self._socket = None

    def _connected(self) -> http.client.HTTPConnection:
        self.was_cut = False
        if self._connection is not None and _is_stale(self._connection.sock):
            self.close()
        if self._connection is None:
            self._connection = self._connection_of(self._proxy or self._url)
            self._connection.connect()
            self._socket = self._connection.sock
        return self._connection

    def _connection_of(self, place: SplitResult) -> http.client.HTTPConnection:
        host, port = place.hostname or "", place.port
        if self._url.scheme == "http":
            return http.client.HTTPConnection(host, port, timeout=_CONNECT_SECONDS)
        connection = http.client.HTTPSConnection(
            host, port or 443 if place is self._url else port or 80,
            timeout=_CONNECT_SECONDS, context=_context(),
        )  # fmt: skip
        if place is not self._url:
            connection.set_tunnel(self._url.hostname or "", self._url.port, login(place))
        return connection


def parse(base_url: str) -> SplitResult:
    """Return the parts of a model's address; raises UsageError for what is none."""
    url = urlsplit(base_url)
    try:
        fits = url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
    except ValueError:
        fits = False
    if not fits or url.query or url.fragment or "@" in url.netloc:
        raise UsageError(
            "the address of the model must look like https://HOST/PATH, without user, query or"
            " fragment; give another"
        )
    return url


def proxy_of(url: SplitResult) -> SplitResult | None:
    """Return the proxy that this machine's environment wants for an address, if it wants one."""
    host = url.hostname or ""
    found = urllib.request.getproxies().get(url.scheme)
    if not found or urllib.request.proxy_bypass(f"{host}:{url.port}" if url.port else host):
        return None
    return urlsplit(found if "//" in found else f"//{found}")


def login(proxy: SplitResult | None) -> dict[str, str]:
    """Return the header with the user and password that stand in a proxy's address."""
    if proxy is None or proxy.username is None:
        return {}
    words = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": f"Basic {b64encode(words.encode()).decode()}"}


@cache
def _context() -> ssl.SSLContext:
    return ssl.create_default_context()


def _is_stale(sock: socket.socket | None) -> bool:
    """Tell whether the other side has hung up: between calls nothing can be readable."""
    if sock is None:
        return True
    poll = select.poll()
    poll.register(sock, select.POLLIN)
    return bool(poll.poll(0))
