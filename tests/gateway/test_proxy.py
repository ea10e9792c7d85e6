"""The proxy of `network: allowed` leads to the hosts that are named, and to no others."""

import http.server
import socket
import socketserver
import threading
import urllib.request
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

import pytest

from reb_action.errors import UsageError
from reb_action.gateway.egress.hosts import is_allowed, parse_hosts
from reb_action.gateway.egress.proxy import create_proxy


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
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
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
    answer = create_proxy((site, "nowhere.invalid"), proxy_lookup=lambda _: None)

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


@contextmanager
def at_proxy(outer: socketserver.TCPServer | str, *hosts: str) -> Generator[int]:
    """The port of a proxy for these hosts, all reached through `outer`, a server or any port."""
    place = outer if isinstance(outer, str) else outer.server_address[1]
    answer = create_proxy(hosts, proxy_lookup=lambda _: urlsplit(f"http://127.0.0.1:{place}"))

    class Proxy(Site):
        def do_GET(self) -> None:
            answer(self)

        do_POST = do_CONNECT = do_GET  # noqa: N815

    inner = serve(Proxy)
    yield inner.server_address[1]
    for server in (outer, inner):
        if not isinstance(server, str):
            server.shutdown()
            server.server_close()


@pytest.fixture
def behind() -> Iterator[Callable[[str], int]]:
    """Opens a proxy for hosts that are all reached through a port where nobody listens."""
    with ExitStack() as stack:
        yield lambda hosts: stack.enter_context(at_proxy("1", hosts))


def ask(proxy: int, text: str) -> bytes:
    """Send raw bytes to the proxy and return all that it answers."""
    with socket.create_connection(("127.0.0.1", proxy), 20) as call:
        call.sendall(text.replace("\n", "\r\n").encode("latin-1"))
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
    answer = create_proxy((site,), proxy_lookup=lambda _: None)
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
    inner_answer = create_proxy(("mirror.invalid",))

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
        ("CONNECT nowhere.invalid", "400 invalid host or port"),
        ("CONNECT nowhere.invalid:x", "400 invalid host or port"),
        ("GET https://nowhere.invalid/", "400 invalid host or port"),
        ("CONNECT nowhere.invalid:443/", "400 invalid host or port"),
        ("CONNECT nowhere.invalid:443?", "400 invalid host or port"),
        ("CONNECT u@nowhere.invalid:443", "400 invalid host or port"),
        ("GET http:///nowhere.invalid", "400 invalid host or port"),
        ("GET /local", "400 invalid host or port"),
        ("GET file:///etc/passwd", "400 invalid host or port"),
    ],
)
def test_refusals(proxy: int, request_line: str, said: str):
    answer = ask(proxy, f"{request_line} HTTP/1.1\nHost: nowhere.invalid\n\n")
    assert status(answer) == f"HTTP/1.1 {said}"


LONG = "a" * 64


@pytest.mark.parametrize(
    "name",
    [
        "evil%00.ok.test", "evil%2f.ok.test", "evil\\.ok.test", "evil\x00.ok.test",
        "evil\x01.ok.test", "evil\x7f.ok.test", "evil\xe9.ok.test", "evil[v1.ok.test]",
        "[v1.ok.test]", "[::1]", "[::1", "a..ok.test", ".ok.test", "a.ok.test..",
        f"{LONG}.ok.test", ".".join(["a"] * 124) + ".ok.test", "a.ok.test:0", "a.ok.test:65536",
        "a.ok.test:1x", "evil:1@a.ok.test\\", "evil\\@a.ok.test",
    ],
)  # fmt: skip
@pytest.mark.parametrize("tunnel", [True, False])
def test_what_is_no_name_is_refused_before_it_is_matched(
    behind: Callable[[str], int], name: str, tunnel: bool
):
    target = name if ":1" in name or ":0" in name or ":6" in name else f"{name}:443"
    line = f"CONNECT {target}" if tunnel else f"GET http://{name}/"
    answer = ask(behind("*.ok.test"), f"{line} HTTP/1.1\n\n")
    assert status(answer) == "HTTP/1.1 400 invalid host or port"


@pytest.mark.parametrize("name", ["a" * 63 + ".ok.test", "A_b-1.c.OK.test.", "xn--a.ok.test"])
@pytest.mark.parametrize("tunnel", [True, False])
def test_name_of_a_host_passes(behind: Callable[[str], int], name: str, tunnel: bool):
    line = f"CONNECT {name}:443" if tunnel else f"GET http://u:p@{name}:443/"
    answer = ask(behind("*.ok.test"), f"{line} HTTP/1.1\n\n")
    # Nobody listens at the proxy of this machine.
    assert status(answer) == "HTTP/1.1 502 the host cannot be reached"


@pytest.mark.parametrize("said", [b"", b"no HTTP\r\n\r\n", b"HTTP/1.1 200 OK\r\n" + b"a" * 70000])
@pytest.mark.parametrize("tunnel", [True, False])
def test_proxy_of_the_machine_that_speaks_no_http_is_an_answer(
    said: bytes, tunnel: bool, capfd: pytest.CaptureFixture[str]
):
    class Mute(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.rfile.readline()
            self.wfile.write(said)

    with at_proxy(serve(Mute), "a.test") as port:
        line = "CONNECT a.test:443" if tunnel else "GET http://a.test/"
        answer = ask(port, f"{line} HTTP/1.1\n\n")
    reason = "the host cannot be reached" if tunnel else "the host sent no valid response"
    assert status(answer) == f"HTTP/1.1 502 {reason}"
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("line", ["CONNECT a.test:443", "GET http://a.test/"])
def test_proxy_of_the_machine_that_is_no_address_is_an_answer(
    line: str, capfd: pytest.CaptureFixture[str]
):
    with at_proxy("x", "a.test") as port:
        answer = ask(port, f"{line} HTTP/1.1\n\n")
    assert status(answer) == "HTTP/1.1 502 the host cannot be reached"
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("chunked", [True, False])
def test_one_request_goes_through_the_proxy_of_the_machine_and_no_more(chunked: bool):
    """That proxy keeps its connections open, whatever it is asked."""
    seen = []

    class Keeping(Site):
        def do_GET(self) -> None:
            self.do_POST()

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            seen.append((self.requestline, body))
            self.send_response_only(200)
            self.send_header("Connection", "keep-alive")
            if chunked:
                self.send_header("Content-Length", "7")
                self.send_header("Transfer-Encoding", "chunked")
            else:
                self.send_header("Content-Length", "3")
            self.end_headers()
            self.wfile.write(b"3\r\nyes\r\n0\r\n\r\n" if chunked else b"yes")
            self.close_connection = False

    requests = (
        "POST http://a.test/ HTTP/1.1\nContent-Length: 2\n\nhi"
        "GET http://evil.test/ HTTP/1.1\nHost: evil.test\n\n"
    )
    with at_proxy(serve(Keeping), "a.test") as port:
        answer = ask(port, requests)
    assert seen == [("POST http://a.test/ HTTP/1.1", b"hi")]
    framed = (
        b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n3\r\nyes\r\n0\r\n\r\n"
        if chunked
        else b"Content-Length: 3\r\nConnection: close\r\n\r\nyes"
    )
    assert answer == b"HTTP/1.1 200 OK\r\n" + framed


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ("Transfer-Encoding: chunked", "411 a request needs a Content-Length here"),
        (
            "Content-Length: 4\nTransfer-Encoding: chunked",
            "411 a request needs a Content-Length here",
        ),
        ("Content-Length: 4\nContent-Length: 5", "400 invalid Content-Length"),
        ("Content-Length: +4", "400 invalid Content-Length"),
        ("A: b\x01", "400 invalid header"),
    ],
)
def test_request_whose_end_cannot_be_told_is_refused(proxy: int, site: str, fields: str, said: str):
    answer = ask(proxy, f"GET http://{site}/ HTTP/1.1\n{fields}\n\n")
    assert status(answer).startswith(f"HTTP/1.1 {said}")


def test_body_that_breaks_off_is_no_request(proxy: int, site: str):
    assert ask(proxy, f"POST http://{site}/ HTTP/1.1\nContent-Length: 3\n\nhi") == b""


def test_folded_header_is_one_header(proxy: int, site: str):
    answer = ask(proxy, f"GET http://{site}/ HTTP/1.1\nA: b\n Connection: keep-alive\n\n")
    asked = answer.partition(b"\r\n\r\n")[2].decode()
    assert asked == f"GET / HTTP/1.1\nA: b Connection: keep-alive\nConnection: close\nHost: {site}"


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
    with pytest.raises(UsageError, match=r"is not a host name; use a form like"):
        parse_hosts(text)


def test_no_hosts_are_none():
    assert parse_hosts(" , ") == ()
