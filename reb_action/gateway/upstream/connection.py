"""A keep-alive connection to the model's vendor, through the proxy of the environment if any."""

import http.client
import re
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
_INVALID_URL: Final = (
    "invalid model URL; use https://HOST/PATH without credentials or fragment, and without a query"
    " except Azure's ?api-version="
)
_API_VERSION: Final = re.compile(r"api-version=[A-Za-z0-9._-]{1,40}")
# Their requests are signed, or carry tokens that expire within an hour.
_SIGNED_HOSTS: Final = {
    "Amazon Bedrock": re.compile(r"bedrock[a-z-]*\..*\bamazonaws\.com(?:\.cn)?"),
    "Vertex AI": re.compile(r"(?:.*-)?aiplatform\.(?:.*\.)?googleapis\.com"),
}


class UpstreamConnection:
    """Sends requests to one base URL, with its query.

    One thread sends and reads; any thread may call `abort`, which ends a blocking read at once.
    """

    def __init__(self, base_url: str) -> None:
        self._url = parse_base_url(base_url)
        self._proxy = find_proxy(self._url)
        self._connection: http.client.HTTPConnection | None = None
        self._socket: socket.socket | None = None
        self.aborted = False
        self.request_sent = False

    def send_request(
        self, target: str, body: bytes, headers: Mapping[str, str], *, silent_seconds: float
    ) -> http.client.HTTPResponse:
        """Send a POST and return its response after the headers; raises OSError, HTTPException."""
        self.request_sent = False
        connection = self._connect()
        connection.timeout = silent_seconds
        if self._socket is not None:
            self._socket.settimeout(silent_seconds)
        proxy = self._proxy if self._url.scheme == "http" else None
        origin = f"http://{self._url.netloc}" if proxy is not None else ""
        path = f"{origin}{self._url.path.rstrip('/')}{_add_query(target, self._url.query)}"
        connection.request("POST", path, body, {**headers, **proxy_authorization(proxy)})
        self.request_sent = True
        return connection.getresponse()

    def abort(self) -> None:
        """End the request in progress."""
        self.aborted = True
        if self._socket is not None:
            try:
                # SSLSocket.shutdown would drop the TLS session under the thread that reads.
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
            except OSError:
                return

    def close(self) -> None:
        """Close the connection; the next request opens another."""
        if self._connection is not None:
            self._connection.close()
        self._connection = self._socket = None

    def _connect(self) -> http.client.HTTPConnection:
        self.aborted = False
        if self._connection is not None and _is_stale(self._connection.sock):
            self.close()
        if self._connection is None:
            self._connection = self._new_connection(self._proxy or self._url)
            self._connection.connect()
            self._socket = self._connection.sock
        return self._connection

    def _new_connection(self, address: SplitResult) -> http.client.HTTPConnection:
        host, port = address.hostname or "", address.port
        if self._url.scheme == "http":
            return http.client.HTTPConnection(host, port, timeout=_CONNECT_SECONDS)
        is_direct = address is self._url
        connection = http.client.HTTPSConnection(
            host, port or (443 if is_direct else 80),
            timeout=_CONNECT_SECONDS, context=_tls_context(),
        )  # fmt: skip
        if not is_direct:
            authorization = proxy_authorization(address)
            connection.set_tunnel(self._url.hostname or "", self._url.port, authorization)
        return connection


def parse_base_url(base_url: str) -> SplitResult:
    """Split a model's base URL; raises UsageError for any other URL.

    Azure OpenAI needs `?api-version=`; no other query is accepted.
    """
    try:
        url = urlsplit(base_url)
        is_valid = url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
    except ValueError:
        raise UsageError(_INVALID_URL) from None
    is_query_valid = not url.query or _API_VERSION.fullmatch(url.query) is not None
    if not is_valid or not is_query_valid or url.fragment or "@" in url.netloc:
        # The URL is not shown: it may hold a password.
        raise UsageError(_INVALID_URL)
    for name, host in _SIGNED_HOSTS.items():
        if host.fullmatch(url.hostname or ""):
            raise UsageError(
                f"{name} needs signed requests, which the gateway cannot make; put a proxy such as"
                " LiteLLM in front of it and use its URL"
            )
    return url


def _add_query(target: str, query: str) -> str:
    if not query:
        return target
    return f"{target}{'&' if '?' in target else '?'}{query}"


def find_proxy(url: SplitResult) -> SplitResult | None:
    """Return the proxy that the environment sets for a URL, or None."""
    host = url.hostname or ""
    proxy = urllib.request.getproxies().get(url.scheme)
    if not proxy or urllib.request.proxy_bypass(f"{host}:{url.port}" if url.port else host):
        return None
    return urlsplit(proxy if "//" in proxy else f"//{proxy}")


def proxy_authorization(proxy: SplitResult | None) -> dict[str, str]:
    """Return the header with the credentials of a proxy's URL; empty if it has none."""
    if proxy is None or proxy.username is None:
        return {}
    credentials = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": f"Basic {b64encode(credentials.encode()).decode()}"}


@cache
def _tls_context() -> ssl.SSLContext:
    return ssl.create_default_context()


def _is_stale(sock: socket.socket | None) -> bool:
    """Return whether the vendor closed the connection: between requests nothing is readable."""
    if sock is None:
        return True
    poll = select.poll()
    poll.register(sock, select.POLLIN)
    return bool(poll.poll(0))
