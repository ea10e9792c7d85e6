"""Budgets end a trial's calls: each with a status on which agents give up, and with its reason."""

import pytest

from reb_action.gateway import Budget, Prices
from reb_action.gateway.calls import Call, Course
from reb_action.gateway.ledger import Ledger
from reb_action.gateway.prices import Price
from reb_action.gateway.reading import Reading
from reb_action.model.agent import Dialect

PRICES = Prices(models={"scripted-1": Price(input=100, cache_read=100, output=1000)})


def statuses(one, calls, dialect=Dialect.CHAT):
    return [one.ask(dialect, says=f"call {number}").status for number in range(calls)]


@pytest.mark.parametrize("dialect", Dialect)
def test_calls_are_limited(opened, dialect):
    with opened("ok", dialect, calls=2) as one:
        assert statuses(one, 4, dialect) == [200, 200, 403, 403]
        assert one.ask(dialect).json["error"]["message"] == (
            "the budget of 2 model calls is used up"
        )
        assert (one.tally.calls, one.tally.refused) == (2, {})
        assert one.tally.limit == "the budget of 2 model calls is used up"
        assert len(one.run.seen) == 2


@pytest.mark.parametrize(("tokens", "expected"), [(8102, [200, 403]), (8103, [200, 200, 403])])
def test_tokens_are_limited_by_what_was_used(opened, tokens, expected):
    # 8001 + 101, then 8012 + 201.
    with opened("ok", tokens=tokens) as one:
        assert statuses(one, len(expected)) == expected
        assert one.tally.limit == f"the budget of {tokens} tokens is used up"


def test_cost_is_limited_by_what_was_used(opened):
    # 0.8001 + 0.101 US dollars for the first.
    with opened("ok", cost_usd=0.9011, prices=PRICES) as one:
        assert statuses(one, 2) == [200, 403]
        assert one.tally.usage.cost_usd == 0.9011
        assert one.tally.limit == "the budget of 0.9011 USD is used up"


def test_cost_of_an_unknown_model_cannot_be_limited(opened):
    with opened("ok", cost_usd=1.0) as one:
        assert statuses(one, 1) == [403]
        assert one.tally.limit == (
            "the price of scripted-1 is not known, so that no budget in USD can be kept"
        )


@pytest.mark.parametrize("budget", [{"tokens": 10**6}, {"cost_usd": 1.0}])
def test_model_that_says_no_usage_cannot_be_limited_by_it(opened, budget):
    with opened("no-usage", prices=PRICES, **budget) as one:
        assert statuses(one, 2) == [200, 403]
        assert one.tally.limit == (
            "the model does not say what it used, so that no budget of tokens or USD can be kept"
        )


def test_cost_is_unknown_when_that_of_one_call_is(opened):
    with opened("ok", prices=PRICES) as one:
        one.ask()
        assert one.tally.usage.cost_usd == 0.9011
        one.ask(model="other")
        assert one.tally.usage.cost_usd is None
        assert [line["cost_usd"] for line in one.lines] == [0.9011, None]


def test_same_request_is_limited_also_when_it_fails(opened):
    with opened("e500", repeats=3) as one:
        assert [one.ask().status for _ in range(5)] == [500, 500, 500, 403, 403]
        assert one.tally.limit == "the same request was made 3 times"
        assert one.tally.refused == {"500": 3}


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize("stream", [False, True])
def test_same_tool_call_is_limited_in_a_growing_conversation(opened, dialect, stream):
    with opened("loop", dialect, repeats=3) as one:
        replies = [one.ask(dialect, stream=stream, results=step) for step in range(5)]
        assert [reply.status for reply in replies] == [200, 200, 200, 403, 403]
        assert one.tally.limit == "the model made the same tool call 3 times"


def test_different_tool_calls_are_no_repeats(opened):
    with opened("multi", repeats=2) as one:
        assert [one.ask(results=step).status for step in range(4)] == [200] * 4
        assert one.tally.limit is None


@pytest.mark.parametrize(
    ("tools", "limited"), [("AA", False), ("AAA", True), ("ABABA", True), ("ABCABCABCABC", False)]
)
def test_loop_of_tool_calls_is_seen_among_others(tmp_path, tools, limited):
    ledger = Ledger(Budget(repeats=3), Prices(), tmp_path / "record")
    for tool in tools:
        reading = Reading(tools={"0": tool}, ended=True)
        call = Call(
            route="/", model="m", status=200, course=Course.WHOLE, began=0.0, reading=reading
        )
        ledger.close(call, generates=True)
    assert (ledger.tally().limit is not None) == limited


def test_nothing_is_limited_without_a_budget(opened):
    with opened("loop") as one:
        assert [one.ask().status for _ in range(30)] == [200] * 30
        assert one.tally.limit is None
