"""The proxy of `network: allowed` leads to the hosts that are named, and to no others."""

import http.server
import socket
import socketserver
import threading
import urllib.request
from collections.abc import Iterator

import pytest

from reb_action.errors import UsageError
from reb_action.gateway.egress import egress, is_allowed, parse_hosts


class Site(http.server.BaseHTTPRequestHandler):
    """Says what it was asked."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        asked = [self.requestline, *(f"{k}: {v}" for k, v in sorted(self.headers.items()))]
        body = "\n".join(asked).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def serve(handler: type[socketserver.BaseRequestHandler]) -> http.server.ThreadingHTTPServer:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


@pytest.fixture
def site() -> Iterator[str]:
    """A host that is allowed, by name and port."""
    server = serve(Site)
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def proxy(site: str) -> Iterator[int]:
    """The port of a proxy that allows the site, and one host that does not exist."""
    answer = egress((site, "nowhere.invalid"), onward=lambda _: None)

    class Proxy(Site):
        def do_GET(self) -> None:
            answer(self)

        def do_POST(self) -> None:
            answer(self)

        def do_CONNECT(self) -> None:
            answer(self)

    server = serve(Proxy)
    yield server.server_port
    server.shutdown()
    server.server_close()


def ask(proxy: int, text: str) -> bytes:
    """Send raw bytes to the proxy and return all that it answers."""
    with socket.create_connection(("127.0.0.1", proxy), 20) as call:
        call.sendall(text.replace("\n", "\r\n").encode())
        call.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: call.recv(65536), b""))


def status(answer: bytes) -> str:
    return answer.split(b"\r\n", 1)[0].decode()


def test_tunnel_leads_to_an_allowed_host(proxy: int, site: str):
    request = (
        f"CONNECT {site} HTTP/1.1\nHost: {site}\n\nGET /x HTTP/1.1\nHost: a\nConnection: close\n\n"
    )
    head, _, rest = ask(proxy, request).partition(b"\r\n\r\n")
    assert head == b"HTTP/1.1 200 Connection established"
    assert rest.endswith(b"GET /x HTTP/1.1\nConnection: close\nHost: a")


def test_plain_request_loses_what_is_for_the_proxy_alone(proxy: int, site: str):
    answer = ask(
        proxy,
        f"GET http://{site}/a?b=c HTTP/1.1\nHost: elsewhere\nProxy-Authorization: x\n"
        "Proxy-Connection: keep-alive\nAccept: */*\n\n",
    )
    asked = answer.partition(b"\r\n\r\n")[2].decode()
    assert asked == f"GET /a?b=c HTTP/1.1\nAccept: */*\nConnection: close\nHost: {site}"


def test_body_goes_along(proxy: int, site: str):
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({"http": f"http://127.0.0.1:{proxy}"})
    )
    body = b"x" * 3_000_000
    with opener.open(f"http://{site}/", data=body, timeout=20) as answer:
        assert answer.read() == body


@pytest.mark.parametrize("tunnel", [True, False])
def test_proxy_of_the_machine_leads_on(site: str, monkeypatch: pytest.MonkeyPatch, tunnel: bool):
    """The outer proxy is one of ours as well, with a host that exists for it alone."""
    answer = egress((site,), onward=lambda _: None)
    seen = []

    class Outer(Site):
        def do_GET(self) -> None:
            seen.append((self.command, self.path, self.headers["Proxy-Authorization"]))
            self.path = self.path.replace("mirror.invalid:80", site).replace("mirror.invalid", site)
            answer(self)

        def do_CONNECT(self) -> None:
            self.do_GET()

    outer = serve(Outer)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    for name in ("http_proxy", "https_proxy"):
        monkeypatch.setenv(name, f"http://me:pw@127.0.0.1:{outer.server_port}")
        monkeypatch.setenv(name.upper(), f"http://me:pw@127.0.0.1:{outer.server_port}")
    inner_answer = egress(("mirror.invalid",))

    class Inner(Site):
        def do_GET(self) -> None:
            inner_answer(self)

        def do_CONNECT(self) -> None:
            inner_answer(self)

    inner = serve(Inner)
    if tunnel:
        asked = "CONNECT mirror.invalid:80 HTTP/1.1\n\nGET /x HTTP/1.1\nConnection: close\n\n"
    else:
        asked = "GET http://mirror.invalid/x HTTP/1.1\n\n"
    said = ask(inner.server_port, asked)
    for server in (outer, inner):
        server.shutdown()
        server.server_close()
    assert b"GET /x HTTP/1.1" in said
    login = "Basic bWU6cHc="
    assert seen == [
        ("CONNECT", "mirror.invalid:80", login)
        if tunnel
        else ("GET", "http://mirror.invalid/x", login)
    ]


@pytest.mark.parametrize(
    ("request_line", "said"),
    [
        ("CONNECT example.org:443", "403 this host is not allowed in this trial"),
        ("CONNECT 127.0.0.1:1", "403 this host is not allowed in this trial"),
        ("GET http://example.org/", "403 this host is not allowed in this trial"),
        ("GET http://allowed@example.org/", "403 this host is not allowed in this trial"),
        ("CONNECT nowhere.invalid:443", "502 the host cannot be reached"),
        ("CONNECT nowhere.invalid", "400 no host and port"),
        ("CONNECT nowhere.invalid:x", "400 no host and port"),
        ("GET https://nowhere.invalid/", "400 no host and port"),
        ("GET /local", "400 no host and port"),
        ("GET file:///etc/passwd", "400 no host and port"),
    ],
)
def test_refusals(proxy: int, request_line: str, said: str):
    answer = ask(proxy, f"{request_line} HTTP/1.1\nHost: nowhere.invalid\n\n")
    assert status(answer) == f"HTTP/1.1 {said}"


def test_second_request_cannot_leave_its_host(proxy: int, site: str):
    one = f"GET http://{site}/1 HTTP/1.1\nHost: {site}\n\n"
    two = "GET http://example.org/2 HTTP/1.1\nHost: example.org\n\n"
    answer = ask(proxy, one + two)
    assert answer.count(b"HTTP/1.1 200") == 1
    assert b"example.org" not in answer


@pytest.mark.parametrize(
    ("host", "port", "allowed"),
    [
        ("pypi.org", 443, True),
        ("PyPI.org.", 80, True),
        ("pypi.org", 22, False),
        ("files.pypi.org", 443, False),
        ("pypi.org.evil.example", 443, False),
        ("files.pythonhosted.org", 443, True),
        ("a.b.pythonhosted.org", 443, True),
        ("pythonhosted.org", 443, False),
        ("evilpythonhosted.org", 443, False),
        ("mirror", 8080, True),
        ("mirror", 443, False),
    ],
)
def test_hosts_mean_names_and_ports(host: str, port: int, allowed: bool):
    hosts = parse_hosts("PyPI.org, *.pythonhosted.org\nmirror:8080")
    assert is_allowed(hosts, host, port) is allowed


@pytest.mark.parametrize(
    "text", ["https://pypi.org", "pypi.org/simple", "*", "a.*.b", "x:y", "[::1]"]
)
def test_what_is_no_host_is_refused(text: str):
    with pytest.raises(UsageError, match=r"is no host to allow; write one such as"):
        parse_hosts(text)


def test_no_hosts_are_none():
    assert parse_hosts(" , ") == ()
