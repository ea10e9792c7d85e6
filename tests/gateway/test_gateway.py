"""The gateway passes on what it may, adds the key, and counts in each dialect to the token."""

import json
import threading
import time
from dataclasses import replace

import pytest

from reb_action.errors import PlaceError, UsageError
from reb_action.gateway.gateway import Gateway
from reb_action.gateway.prices import Prices, load_prices
from reb_action.gateway.settings import Budget, Upstream
from reb_action.model.agent import Dialect, Tally, Usage
from reb_action.model.fault import FaultCause
from tests.support.model_server import KEY
from tests.support.model_server.client import Reply, connect, request, send

STREAMS = pytest.mark.parametrize("stream", [False, True])
DIALECTS = pytest.mark.parametrize("dialect", Dialect)


@DIALECTS
@STREAMS
def test_usage_is_what_the_model_said(open_gateway, dialect, stream):
    with open_gateway("multi", dialect) as live:
        replies = [live.ask(dialect, stream=stream, results=step) for step in range(4)]
        assert [reply.status for reply in replies] == [200] * 4
        assert live.tally == Tally(usage=live.run.usage, calls=4)
        assert (live.tally.usage.turns, live.tally.usage.tool_calls) == (4, 3)
        assert live.tally.usage.output_tokens == 101 + 201 + 301 + 401


@DIALECTS
@STREAMS
def test_answer_is_passed_on_as_it_is(open_gateway, model_server, dialect, stream):
    with open_gateway("text", dialect) as live:
        through = live.ask(dialect, stream=stream, stream_options={"include_usage": True})
        direct = connect(model_server.root)
        prefix = f"/text/direct-{dialect}-{stream}"
        bare = request(dialect, key=KEY, stream=stream, stream_options={"include_usage": True})
        expected = send(direct, *bare, prefix=prefix)
        direct.close()
    assert through.body == expected.body
    assert through.headers["content-type"] == expected.headers["content-type"]
    assert through.headers["request-id"] == "req_0"


@DIALECTS
def test_model_gets_the_key_and_never_the_placeholder(open_gateway, dialect):
    with open_gateway("text", dialect) as live:
        live.ask(dialect, says="hello")
        seen = live.run.seen[-1]
        assert KEY in " ".join(seen.headers.values())
        assert live.gateway.placeholder not in f"{seen.path} {seen.headers} {seen.body}"


@DIALECTS
def test_another_key_is_refused_by_the_gateway_itself(open_gateway, dialect):
    with open_gateway("text", dialect) as live:
        reply = live.ask(dialect, key="sk-guess")
        assert reply.status == 401
        assert reply.json["error"]["message"] == "this is not the key of the trial"
        assert live.run.seen == []
        assert live.tally.trouble.cause is FaultCause.REQUEST_REFUSED
        assert replace(live.tally, trouble=None) == Tally(
            usage=Usage(turns=0, tool_calls=0),
            last_error="401: this is not the key of the trial",
        )


def test_anthropic_key_is_also_taken_as_a_bearer(open_gateway):
    with open_gateway("text", Dialect.ANTHROPIC) as live:
        path, headers, body = request(Dialect.ANTHROPIC, key="")
        headers["Authorization"] = f"Bearer {live.gateway.placeholder}"
        connection = connect(live.gateway.address)
        assert send(connection, path, headers, body).status == 200
        connection.close()


def test_gemini_key_is_taken_out_of_the_query(open_gateway):
    with open_gateway("text", Dialect.GEMINI) as live:
        path, headers, body = request(Dialect.GEMINI, key="")
        connection = connect(live.gateway.address)
        keyed = f"{path}?key={live.gateway.placeholder}&alt=sse&other=1"
        assert send(connection, keyed, headers, body).status == 200
        connection.close()
        assert live.run.seen[-1].path.endswith(f"{path}?alt=sse")


def test_usage_is_asked_for_where_the_agent_does_not(open_gateway):
    with open_gateway("text") as live:
        plain = live.ask(stream=True)
        asked = json.loads(live.run.seen[-1].body)["stream_options"]
        assert asked == {"include_usage": True}
        assert all(event["choices"] for event in plain.events)
        assert plain.body.endswith(b"data: [DONE]\n\n")
        assert live.tally.usage.input_tokens == 8001
        wanted = live.ask(stream=True, stream_options={"include_usage": True, "x": 1})
        assert json.loads(live.run.seen[-1].body)["stream_options"]["x"] == 1
        assert wanted.events[-1]["usage"]["prompt_tokens"] == 8012


def test_unix_socket_carries_the_same(open_gateway, tmp_path):
    with open_gateway("ok", listen=tmp_path / "reb.sock") as live:
        assert live.gateway.address == tmp_path / "reb.sock"
        assert (tmp_path / "reb.sock").stat().st_mode & 0o777 == 0o666
        assert live.ask(stream=True).status == 200
        assert live.tally == Tally(usage=live.run.usage, calls=1)
    assert not (tmp_path / "reb.sock").exists()


def test_connection_is_kept_from_call_to_call(open_gateway):
    with open_gateway("text") as live:
        connection = connect(live.gateway.address)
        asked = request(Dialect.CHAT, key=live.gateway.placeholder)
        first = send(connection, *asked)
        socket = connection.sock
        assert isinstance(first, Reply)
        assert send(connection, *asked).status == 200
        assert connection.sock is socket
        connection.close()


def test_model_that_hangs_up_between_calls_is_called_anew(open_gateway):
    with open_gateway("hangs-up") as live:
        connection = connect(live.gateway.address)
        asked = request(Dialect.CHAT, key=live.gateway.placeholder)
        for _ in range(3):
            assert send(connection, *asked).status == 200
            # What is noticed is the end of the connection, which comes after the answer.
            time.sleep(0.05)
        connection.close()


def test_stream_is_not_held_back(open_gateway):
    with open_gateway("slow") as live:
        connection = connect(live.gateway.address)
        path, headers, body = request(Dialect.CHAT, key=live.gateway.placeholder, stream=True)
        connection.request("POST", path, json.dumps(body), headers)
        first = connection.getresponse().read1()
        assert first.count(b"data: ") == 1
        assert live.run.usage.turns == 1
        assert live.tally.usage.turns == 0
        connection.close()


def test_record_has_one_line_per_call_and_no_text(open_gateway):
    with open_gateway("ok") as live:
        reply = live.ask(says="a secret of the prompt", stream=True)
        (line,) = live.lines
        text = live.record.read_text()
    for name in ("time", "seconds", "first_byte_seconds"):
        assert line.pop(name) is not None
    # The hidden event of usage was received all the same.
    assert line.pop("received_bytes") > len(reply.body)
    assert line == {
        "route": "/v1/chat/completions",
        "model": "scripted-1",
        "answered_by": "scripted-1",
        "status": 200,
        "course": "whole",
        "cause": None,
        "sent_bytes": len(live.run.seen[0].body),
        "input_tokens": 8001,
        "cache_read_tokens": 6000,
        "cache_write_tokens": None,
        "output_tokens": 101,
        "tool_calls": 1,
        "cost_usd": None,
        "searches": None,
        "estimate": None,
    }
    assert "secret" not in text
    assert "make it" not in text


def test_cost_is_added_up_by_the_list_of_prices(open_gateway):
    with open_gateway("text", Dialect.ANTHROPIC, prices=load_prices()) as live:
        live.ask(Dialect.ANTHROPIC, model="claude-sonnet-4-5")
        live.ask(Dialect.ANTHROPIC, model="claude-sonnet-4-5")
        first = 2001 * 3 + 6000 * 0.3 + 400 * 3.75 + 101 * 15
        second = 2002 * 3 + 6010 * 0.3 + 400 * 3.75 + 201 * 15
        assert live.tally.usage.cost_usd == pytest.approx((first + second) / 1e6, abs=1e-6)


def test_many_calls_at_once_are_all_counted(open_gateway):
    with open_gateway("ok", listen=None) as live:
        calls = [threading.Thread(target=lambda: live.ask(stream=True)) for _ in range(20)]
        for call in calls:
            call.start()
        for call in calls:
            call.join()
        assert live.tally == Tally(usage=live.run.usage, calls=20)
        assert len(live.lines) == 20


def test_quiet_seconds_begin_anew_with_each_byte(open_gateway):
    with open_gateway("text") as live:
        time.sleep(1.0)
        assert live.gateway.quiet_seconds() >= 1.0
        live.ask()
        assert live.gateway.quiet_seconds() < 1.0


@pytest.mark.parametrize(
    "url",
    ["ftp://host", "https://", "host", "https://u:p@host", "http://host:99999", "http://h/?a"],
)
def test_address_that_is_none_is_refused(tmp_path, url):
    upstream = Upstream(dialect=Dialect.CHAT, base_url=url, key="k")
    with pytest.raises(UsageError, match=r"^invalid model URL; use https://HOST"):
        Gateway(upstream, Budget(), prices=Prices(), record=tmp_path / "r", listen=None)


def test_socket_with_too_long_a_path_is_refused(tmp_path):
    place = tmp_path / ("x" * 120)
    gateway = Gateway(None, Budget(), prices=Prices(), record=tmp_path / "r", listen=place)
    with pytest.raises(PlaceError, match="too long for a socket"), gateway:
        pass


def test_key_is_not_in_the_text_of_a_value():
    assert "geheim" not in repr(Upstream(dialect=Dialect.CHAT, base_url="http://h", key="geheim"))
