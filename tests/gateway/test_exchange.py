"""Whatever a model or an agent does on the wire, the gateway answers, counts, and does not hang."""

import json
import time
from base64 import b64encode
from dataclasses import replace
from urllib.parse import quote

import pytest

from reb_action.gateway.gateway import Gateway
from reb_action.gateway.prices import Price, Prices
from reb_action.gateway.settings import Budget, Upstream
from reb_action.gateway.upstream.key_redaction import AnswerRedactor, build_redactor
from reb_action.gateway.upstream.meter import AnswerMeter
from reb_action.model.agent import Dialect, Tally, Usage, UsageEstimate, VendorRecord
from reb_action.model.fault import FaultCause
from tests.support.model_server import KEY
from tests.support.model_server.client import ask, connect, request

DIALECTS = pytest.mark.parametrize("dialect", Dialect)
PRICES = Prices(models={"scripted-1": Price(input=100, cache_read=100, output=1000)})
NOTHING = Usage(turns=0, tool_calls=0)


@DIALECTS
@pytest.mark.parametrize(
    ("status", "cause"),
    [
        (400, FaultCause.REQUEST_REJECTED),
        (401, FaultCause.KEY_REFUSED),
        (403, FaultCause.PERMISSION_REFUSED),
        # The scripted model has the code model_not_found in OpenAI's dialects alone.
        (404, FaultCause.MODEL_UNKNOWN),
        (429, FaultCause.RATE_LIMITED),
        (500, FaultCause.SERVER_ERROR),
        (503, FaultCause.OVERLOADED),
        (529, FaultCause.OVERLOADED),
    ],
)
def test_errors_pass_through_and_are_counted(open_gateway, dialect, status, cause):
    with open_gateway(f"e{status}", dialect) as live:
        reply = live.ask(dialect, stream=True)
        assert reply.status == status
        assert reply.json["error"]["message"] == f"scripted error {status}"
        tally = live.tally
        assert replace(tally, trouble=None) == Tally(
            usage=NOTHING,
            calls=1,
            refused={str(status): 1},
            last_error=f"{status}: scripted error {status}",
        )
        if status == 404 and dialect in (Dialect.ANTHROPIC, Dialect.GEMINI):
            cause = FaultCause.ADDRESS_WRONG
        assert live.vendor.failures == {cause: 1}
        assert (tally.trouble.cause, tally.trouble.message) == (cause, tally.last_error)
        assert (live.lines[0]["course"], live.lines[0]["cause"]) == ("error", cause)
    if status == 429:
        assert reply.headers["retry-after"] == "0"


def test_key_that_an_error_quotes_is_taken_out(open_gateway):
    with open_gateway("text", key="sk-wrong-but-secret") as live:
        reply = live.ask()
        assert reply.status == 401
        assert reply.json["error"]["message"] == "the key [key] is not valid"
        assert live.tally.last_error == "401: the key [key] is not valid"


QUOTED = "k-/9Zs" + "x" * 12


@pytest.mark.parametrize(
    "said",
    [
        QUOTED,
        QUOTED.replace("/", "\\/"),
        "".join(f"\\u{ord(letter):04x}" for letter in QUOTED),
        "".join(f"\\u{ord(letter):04X}" for letter in QUOTED),
        QUOTED.replace("Z", "\\u005a"),
        quote(QUOTED, safe=""),
        b64encode(QUOTED.encode()).decode(),
        "".join(f"\\u{ord(letter):04x}" for letter in b64encode(QUOTED.encode()).decode()),
        # Within an error that a router quotes from another one.
        QUOTED.replace("Z", "\\\\u005a"),
    ],
)
def test_key_is_hidden_however_it_is_written(said):
    assert build_redactor(QUOTED)(f'{{"message": "bad {said}."}}') == '{"message": "bad [key]."}'


def test_login_with_the_key_is_hidden_but_for_its_user():
    login = b64encode(f"me:{QUOTED}".encode()).decode()
    hidden = build_redactor(QUOTED)(login)
    assert hidden == f"{login[:4]}[key]"


@pytest.mark.parametrize("said", ["", "no key", QUOTED[:-1], QUOTED.upper()])
def test_other_text_is_left_as_it_is(said):
    assert build_redactor(QUOTED)(said) == said
    assert build_redactor("")(said) == said


def test_redirect_is_not_followed(open_gateway, model_server):
    with open_gateway("redirect") as live:
        reply = live.ask()
        assert reply.status == 502
        assert "location" not in reply.headers
        assert live.tally.last_error == (
            "502: the model answered with 302; redirects are not followed"
        )
    assert model_server.run("elsewhere").seen == []


def test_error_then_success_counts_both(open_gateway):
    with open_gateway("flaky") as live:
        assert [live.ask().status for _ in range(2)] == [429, 200]
        assert live.tally.refused == {"429": 1}
        assert live.tally.usage == live.run.usage


@DIALECTS
@pytest.mark.parametrize("scenario", ["silence", "slow-headers"])
def test_model_without_a_first_byte_is_given_up(open_gateway, dialect, scenario):
    with open_gateway(scenario, dialect, first_byte_seconds=0.3) as live:
        began = time.monotonic()
        reply = live.ask(dialect, stream=True)
        assert 0.3 <= time.monotonic() - began < 30
        assert reply.status == 504
        assert reply.json["error"]["message"] == "the model sent nothing for 0.3 seconds"
        assert (live.tally.usage, live.tally.refused) == (NOTHING, {"504": 1})
        assert live.tally.last_error == "504: the model sent nothing for 0.3 seconds"
        assert live.lines[0]["course"] == "silent"


@pytest.mark.parametrize("stream", [False, True])
def test_model_that_falls_silent_is_given_up(open_gateway, stream):
    with open_gateway("stall", Dialect.ANTHROPIC, first_byte_seconds=0.3) as live:
        reply = live.ask(Dialect.ANTHROPIC, stream=stream)
        assert (reply.status, reply.cut) == (200, True)
        assert live.tally.last_error == "200: the model's answer stalled for 0.3 seconds"
        assert live.lines[0]["course"] == "silent"


# Input and output as the first half of each stream says them: for the record, not for the sum.
HALVES = {
    Dialect.ANTHROPIC: (8401, 1),
    Dialect.RESPONSES: (None, None),
    Dialect.CHAT: (None, None),
    Dialect.GEMINI: (8001, None),
}


def halves(line):
    return line["input_tokens"], line["output_tokens"]


@DIALECTS
def test_cut_stream_is_cut_for_the_agent_and_counts_what_it_said(open_gateway, dialect):
    with open_gateway("cut", dialect) as live:
        reply = live.ask(dialect, stream=True)
        assert (reply.status, reply.cut) == (200, True)
        assert live.tally.usage == NOTHING
        assert live.tally.last_error == "200: the model's answer was cut short"
        assert halves(live.lines[0]) == HALVES[dialect]
        assert live.lines[0]["course"] == "cut"


@DIALECTS
def test_cut_answer_is_cut_for_the_agent(open_gateway, dialect):
    with open_gateway("cut", dialect) as live:
        reply = live.ask(dialect)
        assert (reply.status, reply.cut) == (200, True)
        assert (live.tally.usage, live.lines[0]["course"]) == (NOTHING, "cut")


@DIALECTS
@pytest.mark.parametrize("stream", [False, True])
def test_huge_answer_passes_whole(open_gateway, dialect, stream):
    with open_gateway("huge", dialect) as live:
        reply = live.ask(dialect, stream=stream, results=1)
        assert reply.body.count(b"x") >= 4 * 1024 * 1024
        assert not reply.cut
        assert live.tally == Tally(usage=live.run.usage, calls=1)


@DIALECTS
@pytest.mark.parametrize("stream", [False, True])
def test_bytes_that_are_no_utf8_pass_and_do_not_hide_the_usage(open_gateway, dialect, stream):
    with open_gateway("invalid-utf8", dialect) as live:
        reply = live.ask(dialect, stream=stream, results=1)
        assert b"\xff\xfe\x80" in reply.body
        assert live.tally == Tally(usage=live.run.usage, calls=1)
        assert live.tally.usage.output_tokens == 101


@DIALECTS
def test_agent_that_hangs_up_leaves_its_usage_behind(open_gateway, dialect):
    with open_gateway("slow", dialect) as live:
        connection = connect(live.gateway.address)
        path, headers, body = request(dialect, key=live.gateway.placeholder, stream=True)
        connection.request("POST", path, json.dumps(body), headers)
        connection.getresponse().read1(1)
        connection.close()
    # At the end of the `with` the model has had its time to finish.
    usage = live.run.usage
    assert live.tally.usage.output_tokens == usage.output_tokens == 101
    assert live.tally.usage.input_tokens == usage.input_tokens
    # Gemini's whole answer is its first event.
    assert live.lines[0]["course"] == ("whole" if dialect is Dialect.GEMINI else "left")


def test_gateway_closes_in_its_time_when_the_model_goes_on(open_gateway):
    with open_gateway("stall", Dialect.ANTHROPIC, drain_seconds=0.3) as live:
        connection = connect(live.gateway.address)
        key = live.gateway.placeholder
        path, headers, body = request(Dialect.ANTHROPIC, key=key, stream=True)
        connection.request("POST", path, json.dumps(body), headers)
        connection.getresponse().read1(1)
        began = time.monotonic()
    assert 0.3 <= time.monotonic() - began < 30
    connection.close()
    assert live.tally.usage == NOTHING
    assert halves(live.lines[0]) == HALVES[Dialect.ANTHROPIC]


LONG = "word " * 5000


def bounds(estimate):
    """Return the bounds of input and output of an estimate."""
    return (
        range(estimate.input_tokens_min, estimate.input_tokens_max + 1),
        range(estimate.output_tokens_min, estimate.output_tokens_max + 1),
    )


# What the answers would have reported, had they been whole: the first two of a run.
TRUE_INPUT = 8001 + 8012
TRUE_WRITES = {Dialect.ANTHROPIC: 800}
TRUE_OUTPUT = 101 + 201


@DIALECTS
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("scenario", ["cut", "stall", "silence", "drops", "no-usage", "failed"])
@pytest.mark.parametrize("budget", [{"tokens": 10**6}, {"cost_usd": 100.0}, {}])
def test_answer_without_usage_is_charged_and_the_trial_goes_on(
    open_gateway, dialect, scenario, budget, stream
):
    with open_gateway(scenario, dialect, first_byte_seconds=0.3, prices=PRICES, **budget) as live:
        for _ in range(2):
            assert live.ask(dialect, stream=stream, says=LONG).status in (200, 502, 504)
        tally = live.tally
        assert (tally.calls, tally.limit, tally.usage.input_tokens) == (2, None, None)
        assert tally.estimate.calls == 2
        inputs, outputs = bounds(tally.estimate)
        assert TRUE_INPUT + TRUE_WRITES.get(dialect, 0) in inputs
        assert TRUE_OUTPUT in outputs
        price = PRICES.models["scripted-1"]
        true_cost = (TRUE_INPUT * price.input + TRUE_OUTPUT * price.output) / 1e6
        assert tally.estimate.cost_usd_min <= true_cost <= tally.estimate.cost_usd_max


@DIALECTS
@pytest.mark.parametrize(
    ("budget", "message"),
    [
        ({"tokens": 30_000}, "the budget of 30000 tokens is used up"),
        ({"cost_usd": 4.0}, "the budget of 4.0 USD is used up"),
    ],
)
def test_charge_of_answers_without_usage_ends_a_small_budget(
    open_gateway, dialect, budget, message
):
    with open_gateway("no-usage", dialect, prices=PRICES, **budget) as live:
        statuses = [live.ask(dialect, says=LONG).status for _ in range(4)]
        assert statuses == [200, 200, 200, 403]
        note = ", with estimates for 3 calls that reported no usage"
        assert live.tally.limit == message + note


def test_request_limits_the_output_that_is_charged(open_gateway):
    with open_gateway("cut", Dialect.ANTHROPIC) as live:
        live.ask(Dialect.ANTHROPIC, stream=True, max_tokens=5000, says=LONG)
        assert live.tally.estimate == UsageEstimate(
            calls=1,
            input_tokens_min=8401,
            input_tokens_max=8401,
            output_tokens_min=1,
            output_tokens_max=5000,
        )
        assert live.lines[0]["estimate"] == {
            "input_tokens_min": 8401,
            "input_tokens_max": 8401,
            "output_tokens_min": 1,
            "output_tokens_max": 5000,
        }


@DIALECTS
def test_counted_calls_stay_known_after_an_answer_without_usage(open_gateway, dialect):
    with open_gateway("cut-second", dialect, prices=PRICES) as live:
        replies = [live.ask(dialect, stream=True, results=step) for step in range(3)]
        assert [reply.cut for reply in replies] == [False, True, False]
        tally = live.tally
        assert tally.usage.output_tokens == live.run.usage.output_tokens
        assert tally.usage.turns == 2
        inputs, outputs = bounds(tally.estimate)
        # The first call shows how many tokens a byte has here.
        assert 8012 + TRUE_WRITES.get(dialect, 0) // 2 in inputs
        assert 201 in outputs


def test_agent_that_hangs_up_before_the_usage_is_charged(open_gateway):
    with open_gateway("stall", Dialect.ANTHROPIC, drain_seconds=0.3, tokens=10**9) as live:
        connection = connect(live.gateway.address)
        key = live.gateway.placeholder
        path, headers, body = request(Dialect.ANTHROPIC, key=key, stream=True)
        connection.request("POST", path, json.dumps(body), headers)
        connection.getresponse().read1(1)
        connection.close()
    assert (live.tally.usage, live.tally.limit) == (NOTHING, None)
    assert live.tally.estimate.calls == 1


@DIALECTS
@pytest.mark.parametrize("stream", [False, True])
def test_error_within_an_answer_is_no_turn(open_gateway, dialect, stream):
    with open_gateway("failed", dialect) as live:
        reply = live.ask(dialect, stream=stream)
        assert reply.status == 200
        assert live.tally.usage.turns == 0
        assert live.tally.refused == {"200": 1}
        assert live.tally.last_error == "200: scripted failure"
        assert live.lines[0]["course"] == "failed"


@DIALECTS
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_compressed_answer_is_counted_and_forwarded_plain(open_gateway, dialect, stream, coding):
    with open_gateway(coding, dialect) as live:
        reply = live.ask(dialect, stream=stream)
        assert (reply.status, reply.cut) == (200, False)
        assert "content-encoding" not in reply.headers
        assert b"The environment is ready" in reply.body or stream
        assert live.tally == Tally(usage=live.run.usage, calls=1)
        assert live.tally.usage.turns == 1


def test_compressed_answer_that_is_cut_is_cut(open_gateway):
    with open_gateway("gzip-cut") as live:
        assert live.ask().cut
        assert live.lines[0]["course"] == "cut"


def test_coding_that_the_gateway_cannot_read_is_an_error(open_gateway):
    with open_gateway("brotli") as live:
        reply = live.ask()
        assert reply.status == 502
        assert "Content-Encoding: br" in reply.json["error"]["message"]


@DIALECTS
@pytest.mark.parametrize("stream", [False, True])
def test_key_that_an_answer_echoes_is_taken_out(open_gateway, dialect, stream):
    with open_gateway("echo-key", dialect) as live:
        reply = live.ask(dialect, stream=stream)
        assert (reply.status, reply.cut) == (200, False)
        assert KEY.encode() in live.run.seen[0].answer
        assert KEY.encode() not in reply.body
        assert b"*" * len(KEY) in reply.body
        assert live.tally.usage.turns == 1


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_key_is_taken_out_however_the_answer_is_cut(size):
    meter = AnswerMeter(
        lambda *_: None, AnswerRedactor(KEY), is_stream=False, drop_usage_event=False
    )
    escaped = "".join(f"\\u{ord(letter):04x}" for letter in KEY)
    body = f'{{"a": "{KEY}", "b": "{escaped}", "c": "x"}}'.encode()
    parts = [meter.feed(body[at : at + size]) for at in range(0, len(body), size)]
    shown = b"".join(parts) + meter.finish()
    assert len(shown) == len(body)
    assert json.loads(shown) == {"a": "*" * len(KEY), "b": "*" * 6 * len(KEY), "c": "x"}


def test_connection_that_the_model_drops_is_no_answer_and_may_cost(open_gateway):
    with open_gateway("drops") as live:
        reply = live.ask()
        assert reply.status == 502
        message = reply.json["error"]["message"]
        assert message.startswith("the model closed the connection without an answer (Remote")
        assert live.tally.estimate.calls == 1
        assert live.lines[0]["course"] == "cut"


def test_model_that_cannot_be_reached_is_an_error(tmp_path):
    upstream = Upstream(dialect=Dialect.CHAT, base_url="http://127.0.0.1:1/v1", key=KEY)
    record = tmp_path / "record"
    with Gateway(upstream, Budget(), prices=Prices(), record=record, listen=None) as gateway:
        reply = ask(gateway.address, Dialect.CHAT, key=gateway.placeholder)
        assert reply.status == 502
        tally = gateway.tally()
        assert tally.trouble.cause is FaultCause.CONNECTION_REFUSED
        assert replace(tally, trouble=None, vendor=VendorRecord()) == Tally(
            usage=NOTHING,
            calls=1,
            refused={"502": 1},
            last_error="502: the model cannot be reached"
            " (ConnectionRefusedError: [Errno 111] Connection refused)",
        )
