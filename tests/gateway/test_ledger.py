"""Budgets end a trial's calls: each with a status on which agents give up, and with its reason."""

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from email.message import Message
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from reb_action.gateway.body import LIMIT_BYTES, BodyMemory, max_body_size
from reb_action.gateway.gateway import Gateway
from reb_action.gateway.prices import Price, Prices
from reb_action.gateway.progress import LoopDetector, Step
from reb_action.gateway.settings import Budget, Upstream
from reb_action.model.agent import Dialect
from tests.support.model_server.client import ask, connect

PRICES = Prices(models={"scripted-1": Price(input=100, cache_read=100, output=1000)})


def statuses(live, calls, dialect=Dialect.CHAT):
    return [live.ask(dialect, says=f"call {number}").status for number in range(calls)]


@pytest.mark.parametrize("dialect", Dialect)
def test_calls_are_limited(open_gateway, dialect):
    with open_gateway("ok", dialect, calls=2) as live:
        assert statuses(live, 4, dialect) == [200, 200, 403, 403]
        assert live.ask(dialect).json["error"]["message"] == (
            "the budget of 2 model calls is used up"
        )
        assert (live.tally.calls, live.tally.refused) == (2, {})
        assert live.tally.limit == "the budget of 2 model calls is used up"
        assert len(live.run.seen) == 2


@pytest.mark.parametrize(("tokens", "expected"), [(8102, [200, 403]), (8103, [200, 200, 403])])
def test_tokens_are_limited_by_what_was_used(open_gateway, tokens, expected):
    # 8001 + 101, then 8012 + 201.
    with open_gateway("ok", tokens=tokens) as live:
        assert statuses(live, len(expected)) == expected
        assert live.tally.limit == f"the budget of {tokens} tokens is used up"


def test_cost_is_limited_by_what_was_used(open_gateway):
    # 0.8001 + 0.101 US dollars for the first.
    with open_gateway("ok", cost_usd=0.9011, prices=PRICES) as live:
        assert statuses(live, 2) == [200, 403]
        assert live.tally.usage.cost_usd == 0.9011
        assert live.tally.limit == "the budget of 0.9011 USD is used up"


def test_cost_of_an_unknown_model_cannot_be_limited(open_gateway):
    with open_gateway("ok", cost_usd=1.0) as live:
        assert statuses(live, 1) == [403]
        assert live.tally.limit == (
            "the price of scripted-1 is unknown, so the USD budget cannot be enforced"
        )


def test_answer_of_a_model_without_a_price_is_charged_as_the_requested_one(open_gateway):
    with open_gateway("other-model", cost_usd=0.9011, prices=PRICES) as live:
        assert statuses(live, 2) == [200, 403]
        assert live.tally.usage.cost_usd is None
        assert live.tally.limit == "the budget of 0.9011 USD is used up"
        assert live.vendor.models == {"cheap-model-9": 1}


def test_answer_of_another_model_has_its_own_price(open_gateway):
    prices = Prices(
        models={**PRICES.models, "cheap-model-9": Price(input=1, cache_read=1, output=1)}
    )
    with open_gateway("other-model", prices=prices) as live:
        live.ask()
        assert live.tally.usage.cost_usd == 0.008102


def test_cost_is_unknown_when_that_of_one_call_is(open_gateway):
    with open_gateway("ok", prices=PRICES) as live:
        live.ask()
        assert live.tally.usage.cost_usd == 0.9011
        live.ask(model="other")
        assert live.tally.usage.cost_usd is None
        assert [line["cost_usd"] for line in live.lines] == [0.9011, None]


def test_same_request_is_limited_also_when_it_fails(open_gateway):
    with open_gateway("e500", repeats=3) as live:
        assert [live.ask().status for _ in range(5)] == [500, 500, 500, 403, 403]
        assert live.tally.limit == "the same request was made 3 times"
        assert live.tally.refused == {"500": 3}


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize("stream", [False, True])
def test_same_tool_call_with_the_same_result_is_limited(open_gateway, dialect, stream):
    with open_gateway("loop", dialect, repeats=3) as live:
        replies = [live.ask(dialect, stream=stream, results=step) for step in range(5)]
        assert [reply.status for reply in replies] == [200, 200, 200, 403, 403]
        assert live.tally.limit == "the same tool call had the same result 3 times"


@pytest.mark.parametrize("dialect", Dialect)
def test_other_result_is_progress(open_gateway, dialect):
    with open_gateway("loop", dialect, repeats=3) as live:
        for step in range(10):
            assert live.ask(dialect, results=step, output=f"line {step}").status == 200
        assert live.tally.limit is None


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize(
    "command",
    ["sleep 60", "tail -n 3 build.log", "ps aux | grep nvcc", "wait 12; ls", "pgrep ninja"],
)
def test_polling_is_never_limited(open_gateway, dialect, command):
    with open_gateway("loop", dialect, repeats=3) as live:
        for step in range(10):
            assert live.ask(dialect, results=step, command=command).status == 200
        assert live.tally.limit is None


@pytest.mark.parametrize("dialect", Dialect)
def test_pid_and_duration_of_a_result_are_no_progress(open_gateway, dialect):
    with open_gateway("loop", dialect, repeats=3) as live:
        results = [f"Wall time: 0.{step} seconds\nPID: {step}\nout" for step in range(5)]
        statuses = [
            live.ask(dialect, results=step, output=result).status
            for step, result in enumerate(results)
        ]
        assert statuses == [200, 200, 200, 403, 403]


@pytest.mark.parametrize("name", ["BashOutput", "write_stdin", "wait"])
def test_tool_that_reads_a_running_command_is_polling(name):
    assert Step(names=(name,), calls="{}", results="").is_polling
    assert not Step(names=("Bash",), calls='{"command": "pip install x"}', results="").is_polling


@pytest.mark.parametrize(
    ("steps", "limited"), [("AA", False), ("AAA", True), ("ABABA", True), ("ABCABCABCABC", False)]
)
def test_loop_is_seen_among_other_steps(steps, limited):
    detector = LoopDetector(3)
    found = [
        detector.check(str(number).encode(), Step(names=("Bash",), calls=step, results=""))
        for number, step in enumerate(steps)
    ]
    assert any(found) == limited


def test_retry_of_a_request_counts_its_step_once():
    detector = LoopDetector(3)
    step = Step(names=("Bash",), calls="A", results="")
    assert [detector.check(b"1", step) for _ in range(3)] == [None] * 3
    assert detector.check(b"2", step) is None
    assert detector.check(b"3", step) == "the same tool call had the same result 3 times"


def test_different_tool_calls_are_no_repeats(open_gateway):
    with open_gateway("multi", repeats=2) as live:
        outputs = [f"out {step}" for step in range(4)]
        replies = [live.ask(results=step, output=text) for step, text in enumerate(outputs)]
        assert [reply.status for reply in replies] == [200] * 4
        assert live.tally.limit is None


def test_nothing_is_limited_without_a_budget(open_gateway):
    with open_gateway("loop") as live:
        assert [live.ask().status for _ in range(30)] == [200] * 30
        assert live.tally.limit is None


def soon(is_so):
    """Wait for a thing to become so; tell whether it did."""
    deadline = time.monotonic() + 5
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.01)
    return is_so()


class Held(BaseHTTPRequestHandler):
    """A model that answers nobody until it may, and counts who asks."""

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.server.asked += 1
        self.server.may.wait(10)
        usage = {"prompt_tokens": 10, "completion_tokens": 5}
        choice = {"index": 0, "message": {}, "finish_reason": "stop"}
        body = json.dumps({"choices": [choice], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Keep still."""


@pytest.fixture
def held():
    with ThreadingHTTPServer(("127.0.0.1", 0), Held) as server:
        server.asked, server.may = 0, threading.Event()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.may.set()
        server.shutdown()


@pytest.mark.parametrize(
    ("budget", "at_once", "expected"),
    [
        ({}, 8, [200] * 8),
        ({"calls": 8}, 8, [200] * 8),
        ({"tokens": 10**6}, 4, [200] * 8),
        ({"cost_usd": 10.0**3}, 4, [200] * 8),
        # What passes a budget is what four calls used.
        ({"tokens": 1}, 4, [200] * 4 + [403] * 4),
    ],
)
def test_few_calls_at_once_where_tokens_are_limited(held, tmp_path, budget, at_once, expected):
    url = f"http://127.0.0.1:{held.server_address[1]}/v1"
    upstream = Upstream(dialect=Dialect.CHAT, base_url=url, key="k")
    budget, record = Budget(**budget), tmp_path / "record"
    with (
        Gateway(upstream, budget, prices=PRICES, record=record, listen=None) as gateway,
        ThreadPoolExecutor(8) as pool,
    ):
        send = partial(ask, gateway.address, Dialect.CHAT, key=gateway.placeholder)
        replies = [pool.submit(send) for _ in range(8)]
        soon(lambda: held.asked == at_once)
        time.sleep(0.3)
        assert held.asked == at_once
        held.may.set()
        assert sorted(reply.result().status for reply in replies) == expected
        assert gateway.tally().calls == held.asked == expected.count(200)


def test_request_is_not_read_when_a_budget_is_used_up(open_gateway):
    with open_gateway("ok", calls=1) as live:
        assert live.ask().status == 200
        connection = connect(live.gateway.address)
        headers = {"Authorization": f"Bearer {live.gateway.placeholder}"}
        connection.request("POST", "/v1/chat/completions", b"no JSON", headers)
        assert connection.getresponse().status == 403
        connection.close()


def test_room_is_shared_and_given_back():
    memory = BodyMemory(10, wait_seconds=0.05)
    with memory.reserve(6) as first, memory.reserve(4) as second:
        with memory.reserve(1) as third:
            assert (first, second, third) == (True, True, False)
        with memory.reserve(0) as nothing:
            assert nothing
    with memory.reserve(10) as whole:
        assert whole


def test_who_finds_no_room_waits_for_it():
    memory = BodyMemory(10, wait_seconds=10)
    leave = threading.Event()

    def hold():
        with memory.reserve(10):
            entered.set()
            leave.wait(10)

    entered = threading.Event()
    holder = threading.Thread(target=hold)
    holder.start()
    entered.wait(10)
    threading.Timer(0.2, leave.set).start()
    began = time.monotonic()
    with memory.reserve(1) as has:
        assert has
    assert 0.15 < time.monotonic() - began < 5
    holder.join()


@pytest.mark.parametrize(
    ("headers", "size"),
    [
        ({"content-length": "7"}, 7),
        ({"content-length": str(LIMIT_BYTES + 1)}, LIMIT_BYTES),
        ({"transfer-encoding": "chunked"}, LIMIT_BYTES),
        ({"transfer-encoding": "chunked", "content-length": "7"}, LIMIT_BYTES),
        ({"content-length": "9" * 99}, 0),
        ({"content-length": "-1"}, 0),
        ({}, 0),
    ],
)
def test_room_for_a_body_is_what_it_may_become(headers, size):
    message = Message()
    for name, value in headers.items():
        message[name] = value
    assert max_body_size(message) == size


def test_bodies_of_all_connections_together_are_bounded(open_gateway):
    with open_gateway("text") as live:
        endpoint = live.gateway._handler.endpoint
        assert endpoint.memory._free == 128 * 1024 * 1024
        held = [connect(live.gateway.address) for _ in range(4)]
        for connection in held:
            connection.putrequest("POST", "/v1/chat/completions")
            connection.putheader("content-length", str(LIMIT_BYTES))
            connection.endheaders(b"{")
        endpoint.memory._wait_seconds = 0.3
        assert soon(lambda: endpoint.memory._free == 0)
        reply = live.ask()
        assert reply.status == 503
        assert (
            reply.json["error"]["message"]
            == "too many large requests at the same time; retry later"
        )
        for connection in held:
            connection.close()
        endpoint.memory._wait_seconds = 10
        assert live.ask().status == 200
        assert soon(lambda: endpoint.memory._free == 128 * 1024 * 1024)
