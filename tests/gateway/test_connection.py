"""The way to the model: encrypted, verified, and through the proxy of the environment."""

import shutil
import ssl
import subprocess

import pytest

from reb_action.gateway.egress.proxy import create_proxy
from reb_action.gateway.gateway import Gateway
from reb_action.gateway.prices import Prices
from reb_action.gateway.settings import Budget, Upstream
from reb_action.gateway.upstream import connection
from reb_action.model.agent import Dialect
from tests.support.model_server import KEY, ModelServer
from tests.support.model_server.client import ask

PROXIES = ("http_proxy", "https_proxy", "no_proxy", "all_proxy")
MAKE = (
    *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"),
    *("-nodes", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"),
)


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    connection._tls_context.cache_clear()
    yield
    connection._tls_context.cache_clear()


@pytest.fixture
def certificate(tmp_path):
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl to make a certificate")
    key, made = tmp_path / "key.pem", tmp_path / "made.pem"
    subprocess.run([*MAKE, "-keyout", key, "-out", made], check=True, capture_output=True)
    return key, made


@pytest.fixture
def secure(certificate):
    key, made = certificate
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(made, key)
    with ModelServer(tls=context) as server:
        yield server


def asked(server, tmp_path, scenario="ok", **wanted):
    url = server.url(Dialect.CHAT, scenario, run="r")
    upstream = Upstream(dialect=Dialect.CHAT, base_url=url, key=KEY)
    budget = Budget(first_byte_seconds=wanted.pop("first_byte_seconds", 10.0), drain_seconds=1.0)
    record = tmp_path / "record"
    with Gateway(upstream, budget, prices=Prices(), record=record, listen=None) as gateway:
        reply = ask(gateway.address, Dialect.CHAT, key=gateway.placeholder, **wanted)
        return reply, gateway.tally()


def test_model_is_spoken_to_over_tls(secure, certificate, tmp_path, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[1]))
    reply, tally = asked(secure, tmp_path, stream=True)
    assert reply.status == 200
    assert (tally.usage, tally.calls) == (secure.run("r").usage, 1)


def test_certificate_that_nobody_vouches_for_is_refused(secure, tmp_path):
    reply, tally = asked(secure, tmp_path)
    assert reply.status == 502
    assert tally.last_error.startswith(
        "502: the model cannot be reached (SSLCertVerificationError: "
    )
    assert secure.run("r").seen == []


@pytest.mark.parametrize("scenario", ["silence", "slow-headers", "stall"])
def test_silence_over_tls_is_ended_in_time(secure, certificate, tmp_path, monkeypatch, scenario):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[1]))
    reply, tally = asked(secure, tmp_path, scenario, first_byte_seconds=0.3)
    assert (reply.status, reply.cut) == ((200, True) if scenario == "stall" else (504, False))
    assert "for 0.3 seconds" in tally.last_error


@pytest.fixture
def proxy(tmp_path):
    """Return a function that opens a proxy to one address."""
    gateways = []

    def begin(server):
        host = server.root.rpartition("//")[2]
        gateway = Gateway(
            None,
            Budget(),
            prices=Prices(),
            record=tmp_path / "proxy",
            listen=None,
            egress=create_proxy((host,), proxy_lookup=lambda _: None),
        )
        gateways.append(gateway.__enter__())
        return gateway.address

    yield begin
    for gateway in gateways:
        gateway.__exit__(None, None, None)


def test_proxy_of_the_environment_is_used_for_http(model_server, proxy, tmp_path, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    assert asked(model_server, tmp_path)[0].status == 502
    monkeypatch.setenv("http_proxy", proxy(model_server))
    reply, tally = asked(model_server, tmp_path)
    assert (reply.status, tally.calls) == (200, 1)
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    assert asked(model_server, tmp_path)[0].status == 200


def test_proxy_of_the_environment_is_used_for_tls(
    secure, certificate, proxy, tmp_path, monkeypatch
):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[1]))
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:1")
    assert asked(secure, tmp_path)[0].status == 502
    monkeypatch.setenv("https_proxy", proxy(secure))
    assert asked(secure, tmp_path)[0].status == 200


@pytest.mark.parametrize(
    ("proxy", "headers"),
    [
        ("http://h:1", {}),
        ("http://user:p%40ss@h:1", {"Proxy-Authorization": "Basic dXNlcjpwQHNz"}),
    ],
)
def test_login_of_a_proxy_comes_from_its_address(proxy, headers):
    assert connection.proxy_authorization(connection.urlsplit(proxy)) == headers
