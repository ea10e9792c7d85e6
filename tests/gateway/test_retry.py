"""The gateway waits for an overloaded model, within its limit, and records that."""

import json
import threading
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from reb_action.gateway.upstream.retry import find_wait
from reb_action.model.agent import Dialect
from tests.support.model_server.client import connect, request

DIALECTS = pytest.mark.parametrize("dialect", Dialect)


@DIALECTS
@pytest.mark.parametrize(("scenario", "status"), [("flaky", "429"), ("overloaded-once", "529")])
def test_overloaded_model_is_asked_again(open_gateway, dialect, scenario, status):
    with open_gateway(scenario, dialect, retry_seconds=10.0) as live:
        began = time.monotonic()
        assert live.ask(dialect, stream=True).status == 200
        assert time.monotonic() - began >= 2.0
        assert live.run.statuses == [int(status), 200]
        assert live.vendor.retried == {status: 1}
        assert live.vendor.waited_seconds == 2.0
        assert (live.tally.calls, live.tally.refused) == (1, {})
        assert live.tally.usage == live.run.usage


def test_wait_that_does_not_fit_is_left_to_the_agent(open_gateway):
    with open_gateway("wait-long", retry_seconds=10.0) as live:
        began = time.monotonic()
        reply = live.ask()
        assert (reply.status, reply.headers["retry-after"]) == (429, "100")
        assert time.monotonic() - began < 2
        assert live.tally.refused == {"429": 1}
        assert live.vendor.retried == {}


@DIALECTS
def test_model_that_stays_overloaded_gives_its_error_in_the_end(open_gateway, dialect):
    with open_gateway("e529", dialect, retry_seconds=2.5) as live:
        assert live.ask(dialect).status == 529
        assert live.run.statuses == [529, 529]
        assert live.vendor.retried == {"529": 1}
        assert live.tally.refused == {"529": 1}


@pytest.mark.parametrize("status", [400, 401, 403, 404, 500])
def test_other_errors_are_not_repeated(open_gateway, status):
    with open_gateway(f"e{status}", retry_seconds=10.0) as live:
        assert live.ask().status == status
        assert live.run.statuses == [status]


def test_agent_that_hangs_up_while_the_gateway_waits_is_not_asked_for(open_gateway):
    with open_gateway("e529", retry_seconds=60.0) as live:
        connection = connect(live.gateway.address)
        path, headers, body = request(Dialect.CHAT, key=live.gateway.placeholder)
        connection.request("POST", path, json.dumps(body), headers)
        deadline = time.monotonic() + 5
        while not live.run.statuses and time.monotonic() < deadline:
            time.sleep(0.02)
        connection.close()
        time.sleep(3)
        assert live.run.statuses == [529]


def test_waiting_is_no_silence_and_ends_with_the_gateway(open_gateway):
    with open_gateway("e529", retry_seconds=60.0) as live:
        asking = threading.Thread(target=live.ask)
        asking.start()
        time.sleep(1.5)
        assert live.gateway.quiet_seconds() < 1.0
        began = time.monotonic()
    assert time.monotonic() - began < 3
    asking.join(10)


@pytest.mark.parametrize(
    ("status", "headers", "error", "attempt", "seconds"),
    [
        (429, {"retry-after": "7"}, None, 0, 7.0),
        (529, {"retry-after": "1"}, None, 0, 2.0),
        (503, {}, None, 3, 16.0),
        (429, {}, None, 30, 60.0),
        (429, {"retry-after-ms": "2500"}, None, 0, 2.5),
        (429, {"retry-after": "soon"}, None, 0, 2.0),
        (429, {}, {"error": {"details": [{"retryDelay": "17s"}]}}, 0, 17.0),
        (429, {"x-should-retry": "false"}, None, 0, None),
        (429, {}, {"error": {"code": "insufficient_quota"}}, 0, None),
        (500, {"retry-after": "1"}, None, 0, None),
    ],
)
def test_wait_is_what_the_vendor_asks_for_and_grows(status, headers, error, attempt, seconds):
    assert find_wait(status, headers, error, attempt=attempt) == seconds


def test_wait_until_a_date():
    moment = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert 28 <= find_wait(429, {"retry-after": moment}, None, attempt=0) <= 31
