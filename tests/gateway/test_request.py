"""What an agent may send: the routes of its dialect, whole and bounded requests, and no more."""

import json
import socket
from contextlib import suppress
from http import HTTPStatus

import pytest

from reb_action.gateway.gateway import Gateway
from reb_action.gateway.prices import Prices
from reb_action.gateway.settings import Budget
from reb_action.model.agent import Dialect, Tally, Usage
from tests.support.model_server.client import connect, request, send

# Python 3.13 has another phrase for it than 3.11.
TOO_LARGE = f"413 {HTTPStatus(413).phrase}"


def raw(live, text):
    """Send bytes as they are and return the status line of each answer, and the last body."""
    host, port = live.gateway.address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as sock:
        heard = b""
        with suppress(OSError):
            sock.sendall(text)
            sock.shutdown(socket.SHUT_WR)
            heard = b"".join(iter(lambda: sock.recv(65536), b""))
    return heard.partition(b"\r\n")[0].decode(), heard.rpartition(b"\r\n\r\n")[2]


def head(live, path="/v1/chat/completions", method="POST", **headers):
    fields = {"host": "h", "authorization": f"Bearer {live.gateway.placeholder}", **headers}
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
    return "\r\n".join([f"{method} {path} HTTP/1.1", *lines, "", ""]).encode()


BODY = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hello"}]}).encode()
CHUNKED = b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)


@pytest.mark.parametrize(
    ("dialect", "path"),
    [
        (Dialect.CHAT, "/v1/messages"),
        (Dialect.CHAT, "/v1/models"),
        (Dialect.CHAT, "/v1/chat/completions/../../files"),
        (Dialect.CHAT, "//evil.example/v1/chat/completions"),
        (Dialect.CHAT, "/v1/chat/completions%2e"),
        (Dialect.RESPONSES, "/v1/responses/resp_1/cancel"),
        (Dialect.ANTHROPIC, "/v1/files"),
        (Dialect.ANTHROPIC, "/v1/messages/batches"),
        (Dialect.GEMINI, "/v1beta/models/../files:generateContent"),
        (Dialect.GEMINI, "/v1beta/models/m:batchGenerateContent"),
    ],
)
def test_other_routes_are_not_found(open_gateway, dialect, path):
    with open_gateway("text", dialect) as live:
        text = head(live, path, content_length=len(BODY)) + BODY
        assert raw(live, text)[0] == "HTTP/1.1 404 Not Found"
        assert live.run.seen == []


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "CONNECT"])
def test_other_methods_are_not_found(open_gateway, method):
    with open_gateway("text") as live:
        assert raw(live, head(live, method=method))[0] == "HTTP/1.1 404 Not Found"


@pytest.mark.parametrize(
    ("dialect", "path", "answer"),
    [
        (Dialect.ANTHROPIC, "/v1/messages/count_tokens", {"input_tokens": 8001}),
        (Dialect.GEMINI, "/v1beta/models/m:countTokens", {"totalTokens": 8001}),
    ],
)
def test_tokens_may_be_counted_and_are_no_usage(open_gateway, dialect, path, answer):
    with open_gateway("text", dialect) as live:
        _, headers, _ = request(dialect, key=live.gateway.placeholder)
        connection = connect(live.gateway.address)
        assert send(connection, path, headers, {"messages": []}).json == answer
        connection.close()
        assert live.tally == Tally(usage=Usage(turns=0, tool_calls=0), calls=1)
        assert live.lines[0]["course"] == "whole"


def asked(dialect, path_model, body):
    """Return the path and body of a request with these fields, named in the path if it is there."""
    path, _, plain = request(dialect, key="", model=path_model)
    plain.pop("model", None)
    return path, json.dumps({**plain, **body}).encode()


ONE = "scripted-1"
OTHER = "this trial may use scripted-1 only, not "
TWICE = "the request body is not a JSON object, or repeats a key"
WAYS = "the request names its model more than once"


@pytest.mark.parametrize("dialect", [Dialect.ANTHROPIC, Dialect.RESPONSES, Dialect.CHAT])
@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ({}, 403, f"{OTHER}''"),
        ({"model": "scripted-2"}, 403, f"{OTHER}'scripted-2'"),
        ({"model": [ONE]}, 403, f"{OTHER}''"),
        ({"model": ONE, "models": ["x"]}, 403, f"{OTHER}'models'"),
        ({"model": ONE, "fallbacks": [{"model": "x"}]}, 403, f"{OTHER}'fallbacks'"),
        ({"model": ONE, "tools": [{"type": "advisor", "model": "x"}]}, 403, f"{OTHER}'x'"),
        ({"model": ONE, "MODEL": "scripted-2"}, 400, WAYS),
        ({"Model": ONE}, 400, WAYS),
    ],
)
def test_call_of_another_model_is_refused(open_gateway, dialect, body, status, message):
    with open_gateway("text", dialect, model=ONE) as live:
        path, text = asked(dialect, ONE, body)
        key = live.gateway.placeholder
        said, heard = raw(live, head(live, path, content_length=len(text), x_api_key=key) + text)
        assert (said.split()[1], json.loads(heard)["error"]["message"]) == (
            str(status),
            message,
        )
        assert (live.run.seen, live.tally.calls) == ([], 0)
        assert live.tally.last_error == f"{status}: {message}"


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize("named", [ONE, None])
def test_call_of_the_one_model_passes(open_gateway, dialect, named):
    with open_gateway("text", dialect, model=named) as live:
        assert live.ask(dialect).status == 200
        assert live.ask(dialect, model="scripted-2").status == (200 if named is None else 403)


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize(
    "name", ["scripted-1-20260101", "Scripted-1", "scripted-1-latest", "scripted-1-2026-01-01"]
)
def test_other_name_of_the_model_is_replaced_by_the_one_of_the_trial(open_gateway, dialect, name):
    with open_gateway("text", dialect, model=ONE) as live:
        assert live.ask(dialect, model=name).status == 200
        seen = live.run.seen[0]
        if dialect is Dialect.GEMINI:
            assert f"/models/{ONE}:" in seen.path
        else:
            assert json.loads(seen.body)["model"] == ONE


@pytest.mark.parametrize(
    ("path_model", "body", "status", "message"),
    [
        ("scripted-2", {}, 403, f"{OTHER}'scripted-2'"),
        (ONE, {"model": ONE}, 400, "the path names the model; remove it from the body"),
        ("scripted-2", {"MODEL": ONE}, 400, "the path names the model; remove it from the body"),
    ],
)
def test_path_of_gemini_is_its_model(open_gateway, path_model, body, status, message):
    with open_gateway("text", Dialect.GEMINI, model=ONE) as live:
        path, text = asked(Dialect.GEMINI, path_model, body)
        key = live.gateway.placeholder
        said, heard = raw(
            live, head(live, path, content_length=len(text), x_goog_api_key=key) + text
        )
        assert (said.split()[1], json.loads(heard)["error"]["message"]) == (
            str(status),
            message,
        )
        assert live.run.seen == []


@pytest.mark.parametrize(
    "body",
    [
        b'{"model": "scripted-2", "model": "scripted-1"}',
        b'{"model": "scripted-2", "\\u006dodel": "scripted-1"}',
        b'{"model": "scripted-1", "stream_options": {"a": 1, "a": 2}}',
    ],
)
def test_key_that_stands_twice_is_refused(open_gateway, body):
    with open_gateway("text") as live:
        said, heard = raw(live, head(live, content_length=len(body)) + body)
        assert (said, json.loads(heard)["error"]["message"]) == (
            "HTTP/1.1 400 Bad Request",
            TWICE,
        )
        assert live.run.seen == []


def test_web_socket_is_not_found(open_gateway):
    with open_gateway("text", Dialect.RESPONSES) as live:
        text = head(live, "/v1/responses", "GET", connection="Upgrade", upgrade="websocket")
        assert raw(live, text)[0] == "HTTP/1.1 404 Not Found"


def test_full_url_leads_nowhere_without_a_way_out(open_gateway):
    with open_gateway("text") as live:
        text = head(live, "http://evil.example/", "GET")
        assert raw(live, text)[0] == "HTTP/1.1 404 Not Found"


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        ({"content_length": len(BODY)}, BODY, "200 OK"),
        ({"transfer_encoding": "chunked"}, CHUNKED, "200 OK"),
        ({"transfer_encoding": "chunked", "content_length": 3}, CHUNKED, "400 Bad Request"),
        ({"transfer_encoding": "gzip, chunked"}, b"0\r\n\r\n", "400 Bad Request"),
        ({"transfer_encoding": "chunked"}, b"zz\r\n", "400 Bad Request"),
        ({}, b"", "400 Bad Request"),
        ({"content_length": "-1"}, b"", "400 Bad Request"),
        ({"content_length": "1e3"}, b"", "400 Bad Request"),
        ({"content_length": 2}, b"[]", "400 Bad Request"),
        ({"content_length": 1}, b"{", "400 Bad Request"),
        ({"content_length": 33 * 1024 * 1024}, b"", TOO_LARGE),
        ({"transfer_encoding": "chunked"}, b"2100000\r\n", TOO_LARGE),
        ({"content_length": 2, "content_encoding": "gzip"}, b"ab", "415 Unsupported Media Type"),
    ],
)
def test_request_must_be_whole_plain_and_bounded(open_gateway, headers, body, status):
    with open_gateway("text") as live:
        assert raw(live, head(live, **headers) + body)[0] == f"HTTP/1.1 {status}"
        assert len(live.run.seen) == (status == "200 OK")


def test_answer_says_that_the_connection_ends(open_gateway):
    with open_gateway("text") as live:
        connection = connect(live.gateway.address)
        connection.request("GET", "/")
        assert connection.getresponse().getheader("connection") == "close"
        connection.close()


def test_two_lengths_are_refused(open_gateway):
    with open_gateway("text") as live:
        two = (
            b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n"
        )
        assert raw(live, two + b"{}")[0] == "HTTP/1.1 400 Bad Request"


def test_request_that_ends_too_soon_is_no_call(open_gateway):
    with open_gateway("text") as live:
        assert raw(live, head(live, content_length=100) + b"{}") == ("", b"")
        assert live.tally.calls == 0


def test_headers_of_the_way_and_of_accounts_stay_behind(open_gateway):
    with open_gateway("text") as live:
        given = {
            "connection": "close, x-way",
            "x_way": "1",
            "te": "trailers",
            "cookie": "a=b",
            "accept_encoding": "gzip",
            "openai_organization": "org-other",
            "x_api_key": "sk-other",
            "user_agent": "agent/1",
        }
        raw(live, head(live, content_length=len(BODY), **given) + BODY)
        sent = live.run.seen[0].headers
    assert {name: value for name, value in sent.items() if name != "host"} == {
        "accept-encoding": "identity",
        "content-length": str(len(BODY)),
        "content-type": "application/json",
        "authorization": "Bearer sk-scripted-0123456789abcdef",
        "user-agent": "agent/1",
    }


# What may go on beside the key: no form of the answer, no part of it, no other account.
ASKED = {
    "accept": "application/x-protobuf",
    "anthropic_beta": "b",
    "anthropic_version": "v",
    "content_type": "application/x-protobuf",
    "openai_beta": "o",
    "x_goog_fieldmask": "candidates.content",
    "x_goog_user_project": "p",
    "x_http_method_override": "GET",
}
PASSED = {
    Dialect.ANTHROPIC: {"anthropic-beta": "b", "anthropic-version": "v"},
    Dialect.RESPONSES: {"openai-beta": "o"},
    Dialect.CHAT: {"openai-beta": "o"},
    Dialect.GEMINI: {},
}


@pytest.mark.parametrize("dialect", Dialect)
def test_only_known_headers_are_passed_on(open_gateway, dialect):
    with open_gateway("text", dialect) as live:
        path, _, asked = request(dialect, key="")
        body = json.dumps(asked).encode()
        keys = {
            "x_api_key": live.gateway.placeholder,
            "x_goog_api_key": live.gateway.placeholder,
        }
        text = head(live, path, content_length=len(body), **keys, **ASKED) + body
        assert raw(live, text)[0] == "HTTP/1.1 200 OK"
        sent = live.run.seen[0].headers
    own = {"host", "accept-encoding", "content-length", "authorization", "x-api-key"}
    left = {name: value for name, value in sent.items() if name not in own | {"x-goog-api-key"}}
    assert left == {"content-type": "application/json", **PASSED[dialect]}


@pytest.mark.parametrize(
    ("dialect", "given", "passed"),
    [
        (Dialect.GEMINI, "alt=sse", "?alt=sse"),
        (Dialect.GEMINI, "alt=json&prettyPrint=false", "?alt=json"),
        (Dialect.GEMINI, "alt=proto", ""),
        (Dialect.GEMINI, "alt=sse&alt=proto", ""),
        (Dialect.GEMINI, "$alt=proto&fields=candidates&$fields=candidates", ""),
        (Dialect.GEMINI, "beta=true", ""),
        (Dialect.ANTHROPIC, "beta=true", "?beta=true"),
        (Dialect.ANTHROPIC, "beta=1&alt=sse", ""),
        (Dialect.CHAT, "alt=sse&api-version=1", ""),
    ],
)
def test_only_known_parameters_are_passed_on(open_gateway, dialect, given, passed):
    with open_gateway("text", dialect) as live:
        path, headers, body = request(dialect, key=live.gateway.placeholder)
        connection = connect(live.gateway.address)
        assert send(connection, f"{path}?{given}", headers, body).status == 200
        connection.close()
        assert live.run.seen[0].path.endswith(f"{path.removeprefix('/v1')}{passed}")


def test_client_of_http_1_0_gets_a_plain_stream(open_gateway):
    with open_gateway("text") as live:
        body = json.dumps({**json.loads(BODY), "stream": True}).encode()
        text = head(live, content_length=len(body)).replace(b"HTTP/1.1", b"HTTP/1.0", 1)
        status, heard = raw(live, text + body)
        assert status == "HTTP/1.1 200 OK"
        assert heard.startswith(b'data: {"id": "chatcmpl-0"')
        assert heard.endswith(b"data: [DONE]\n\n")


def test_more_connections_than_allowed_are_hung_up(open_gateway):
    with open_gateway("text") as live:
        held = [connect(live.gateway.address) for _ in range(64)]
        for connection in held:
            connection.connect()
        # The thread that accepts is another: only an answered call shows that all were accepted.
        path, headers, body = request(Dialect.CHAT, key=live.gateway.placeholder)
        held[-1].request("POST", path, json.dumps(body), headers)
        assert held[-1].getresponse().read()
        assert raw(live, head(live, content_length=len(BODY)) + BODY) == ("", b"")
        for connection in held:
            connection.close()


def echo(handler):
    handler.wfile.write(f"HTTP/1.1 299 {handler.command} {handler.path}\r\n\r\n".encode())


def test_way_out_and_model_stand_side_by_side(open_gateway):
    with open_gateway("text", egress=echo) as live:
        away = head(live, "http://h/v1/chat/completions", content_length=len(BODY)) + BODY
        assert raw(live, away)[0] == "HTTP/1.1 299 POST http://h/v1/chat/completions"
        assert raw(live, head(live, "/?http://h/", "GET"))[0] == "HTTP/1.1 404 Not Found"
        assert live.run.seen == []
        assert live.ask().status == 200


def test_way_out_answers_what_is_no_call(tmp_path):
    gateway = Gateway(
        None, Budget(), prices=Prices(), record=tmp_path / "r", listen=None, egress=echo
    )
    with gateway:
        live = type("Live", (), {"gateway": gateway})
        assert raw(live, head(live, "host:443", "CONNECT"))[0] == "HTTP/1.1 299 CONNECT host:443"
        assert raw(live, head(live, "http://h/a"))[0] == "HTTP/1.1 299 POST http://h/a"
        assert raw(live, head(live))[0] == "HTTP/1.1 404 Not Found"
