"""What the answers of models mean, also of those that only resemble the vendor of a dialect."""

import pytest

from reb_action.gateway.dialects import DIALECTS
from reb_action.gateway.json_text import get_count, parse_json, shorten
from reb_action.gateway.prices import Price, Prices, load_prices
from reb_action.gateway.upstream.sse import Event, EventParser
from reb_action.gateway.upstream.usage import AnswerSummary, TokenCounts
from reb_action.model.agent import Dialect


def read(dialect, *values):
    summary = AnswerSummary()
    for value in values:
        DIALECTS[dialect].read_answer(value, summary)
    return summary


START = {"input_tokens": 10, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 3}


@pytest.mark.parametrize(
    ("dialect", "values", "tokens"),
    [
        # Anthropic's input leaves cache out; the last numbers of a stream count.
        (
            Dialect.ANTHROPIC,
            [
                {"type": "message_start", "message": {"usage": {**START, "output_tokens": 1}}},
                {"type": "message_delta", "usage": {"output_tokens": 7}},
            ],
            TokenCounts(input=18, cache_read=5, cache_write=3, output=7),
        ),
        # Vendors that imitate it send all numbers at the end, and noughts before.
        (
            Dialect.ANTHROPIC,
            [
                {"type": "message_start", "message": {"usage": {"input_tokens": 0}}},
                {"type": "message_delta", "usage": {**START, "output_tokens": 7}},
            ],
            TokenCounts(input=18, cache_read=5, cache_write=3, output=7),
        ),
        (
            Dialect.ANTHROPIC,
            [{"type": "message", "usage": {"cache_creation": {"ephemeral_1h_input_tokens": 2}}}],
            TokenCounts(cache_write_long=2),
        ),
        (
            Dialect.CHAT,
            [{"usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}}],
            TokenCounts(input=10, output=5),
        ),
        # Reasoning that is only in the total.
        (
            Dialect.CHAT,
            [{"usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 35}}],
            TokenCounts(input=10, output=25),
        ),
        (
            Dialect.CHAT,
            [{"usage": {"prompt_tokens": 10, "prompt_cache_hit_tokens": 4}}],
            TokenCounts(input=10, cache_read=4),
        ),
        # Usage in each event: the last counts.
        (
            Dialect.CHAT,
            [{"usage": {"completion_tokens": n}} for n in (1, 2, 3)],
            TokenCounts(output=3),
        ),
        (Dialect.CHAT, [{"usage": None}], TokenCounts()),
        (
            Dialect.RESPONSES,
            [{"type": "response.incomplete", "response": {"usage": {"input_tokens": 4}}}],
            TokenCounts(input=4),
        ),
        (
            Dialect.RESPONSES,
            [
                {
                    "object": "response",
                    "usage": {
                        "input_tokens": 9,
                        "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 2},
                        "output_tokens": 1,
                    },
                }
            ],
            TokenCounts(input=9, cache_read=4, cache_write=2, output=1),
        ),
        (
            Dialect.GEMINI,
            [
                [
                    {"usageMetadata": {"promptTokenCount": 8}},
                    {
                        "usageMetadata": {
                            "promptTokenCount": 8,
                            "toolUsePromptTokenCount": 2,
                            "candidatesTokenCount": 3,
                            "thoughtsTokenCount": 4,
                        }
                    },
                ]
            ],
            TokenCounts(input=10, output=7),
        ),
        # An answer that was blocked, or spent on nothing, leaves out what would be nought.
        (
            Dialect.GEMINI,
            [{"usageMetadata": {"promptTokenCount": 8, "totalTokenCount": 8}}],
            TokenCounts(input=8, output=0),
        ),
    ],
)
def test_tokens_are_brought_to_one_meaning(dialect, values, tokens):
    assert read(dialect, *values).tokens == tokens


CHAT_CALLS = [
    {"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}
    for call in (
        {"index": 0, "id": "a", "function": {"name": "bash", "arguments": ""}},
        {"index": 0, "function": {"arguments": '{"c": 1}'}},
        {"index": 1, "id": "b", "function": {"name": "bash", "arguments": "{}"}},
    )
]
ITEM = {"type": "function_call", "call_id": "x", "name": "bash", "arguments": "{}"}


@pytest.mark.parametrize(
    ("dialect", "values", "tools"),
    [
        (Dialect.CHAT, CHAT_CALLS, ['bash{"c": 1}', "bash{}"]),
        (
            Dialect.ANTHROPIC,
            [
                {
                    "type": "content_block_start",
                    "index": 1,
                    "content_block": {"type": "tool_use", "name": "Bash", "input": {}},
                },
                {"type": "content_block_delta", "index": 1, "delta": {"partial_json": "{}"}},
                {"type": "content_block_delta", "index": 0, "delta": {"text": "no call"}},
            ],
            ["Bash{}"],
        ),
        (
            Dialect.RESPONSES,
            [
                {"type": "response.output_item.done", "output_index": 0, "item": ITEM},
                {"type": "response.completed", "response": {"output": [ITEM]}},
            ],
            ["bash{}"],
        ),
        (
            Dialect.GEMINI,
            [{"candidates": [{"content": {"parts": [{"functionCall": {"name": "run"}}]}}]}] * 2,
            ["runnull", "runnull"],
        ),
    ],
)
def test_tool_calls_are_gathered_from_their_pieces(dialect, values, tools):
    assert list(read(dialect, *values).tool_calls.values()) == tools


@pytest.mark.parametrize(
    ("dialect", "value", "error"),
    [
        (Dialect.ANTHROPIC, {"type": "error", "error": {"message": "overloaded"}}, "overloaded"),
        (Dialect.RESPONSES, {"type": "error", "message": "broken"}, "broken"),
        (
            Dialect.RESPONSES,
            {"type": "response.failed", "response": {"error": {"message": "bad"}}},
            "bad",
        ),
        (Dialect.CHAT, {"error": {"message": "too long"}}, "too long"),
        (Dialect.GEMINI, {"error": {"message": "gone"}}, "gone"),
        (Dialect.CHAT, {"error": 1}, "error in the answer"),
    ],
)
def test_error_within_an_answer_is_kept(dialect, value, error):
    assert read(dialect, value).error == error


@pytest.mark.parametrize(
    ("value", "ended"),
    [
        ({"promptFeedback": {"blockReason": "SAFETY"}}, True),
        ({"candidates": [{"finishReason": "STOP"}]}, True),
        ({"candidates": [{}], "promptFeedback": {}}, False),
    ],
)
def test_answer_of_gemini_ends_with_a_reason(value, ended):
    assert read(Dialect.GEMINI, value).ended is ended


HOSTILE = [None, 1, "x", [], [[]], {"usage": []}, {"choices": [None]}, {"candidates": {"a": 1}}]
HOSTILE += [
    {"type": "message", "content": ["x"]},
    {"type": ["message"]},
    {"choices": [{"delta": 1}]},
]


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize("value", HOSTILE)
def test_answer_of_any_shape_says_nothing_and_breaks_nothing(dialect, value):
    summary = read(dialect, value)
    assert (summary.tokens, summary.tool_calls) == (TokenCounts(), {})


@pytest.mark.parametrize("value", [True, -1, 1.5, "7", None, 10**12, []])
def test_number_that_makes_no_sense_is_unknown(value):
    assert get_count({"n": value}, "n") is None


def test_number_is_read_up_to_its_bound():
    assert (get_count({"n": 0}, "n"), get_count({"n": 10**12 - 1}, "n")) == (0, 10**12 - 1)


@pytest.mark.parametrize("data", [b"{", b"\xff", b"[" * 100_000, b"9" * 10_000])
def test_bytes_that_are_no_json_are_nothing(data):
    assert parse_json(data) is None


def test_text_is_made_short_and_printable():
    assert shorten("a\n\x1b[31mb" + "c" * 500) == "a �[31mb" + "c" * 191 + "…"


STREAM = b"event: a\ndata: 1\n\n: comment\n\ndata:2\r\ndata: 3\r\n\r\nid: 4\ndata: rest"
EVENTS = [
    Event(raw=b"event: a\ndata: 1\n\n", data=b"1"),
    Event(raw=b": comment\n\n", data=b""),
    Event(raw=b"data:2\r\ndata: 3\r\n\r\n", data=b"2\n3"),
]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_events_are_found_however_they_are_cut(size):
    events = EventParser()
    parts = [STREAM[at : at + size] for at in range(0, len(STREAM), size)]
    assert [event for part in parts for event in events.feed(part)] == EVENTS
    assert events.finish() == Event(raw=b"id: 4\ndata: rest", data=b"rest")


@pytest.mark.parametrize(
    ("price", "tokens", "cost"),
    [
        (Price(input=2, output=10), TokenCounts(input=1_000_000, output=100_000), 3.0),
        (Price(input=2, output=10), TokenCounts(input=1, cache_read=1, output=1), None),
        (Price(input=2, output=10), TokenCounts(input=1, cache_read=0, output=0), 2e-06),
        (Price(input=2, output=10), TokenCounts(input=1), None),
        (Price(input=2, output=10), TokenCounts(), None),
        (
            Price(input=3, cache_read=0.3, cache_write=3.75, cache_write_long=6, output=15),
            TokenCounts(input=100, cache_read=60, cache_write=30, cache_write_long=10, output=1),
            (10 * 3 + 60 * 0.3 + 20 * 3.75 + 10 * 6 + 15) / 1e6,
        ),
        (
            Price(input=1, output=1, long=Price(input=2, output=3, above=10)),
            TokenCounts(input=10, output=1),
            11e-06,
        ),
        (
            Price(input=1, output=1, long=Price(input=2, output=3, above=10)),
            TokenCounts(input=11, output=1),
            25e-06,
        ),
    ],
)
def test_cost_is_known_only_where_all_prices_are(price, tokens, cost):
    assert price.cost(tokens) == (cost if cost is None else pytest.approx(cost, abs=1e-12))


def test_model_without_a_price_costs_something_unknown():
    assert Prices().cost("m", TokenCounts(input=1, output=1)) is None
    assert load_prices().cost("DeepSeek-V3.1-Nex-N1", TokenCounts(input=1, output=1)) is None


@pytest.mark.parametrize(
    ("model", "usd"),
    [
        ("claude-sonnet-4-5", 28.5),
        ("claude-sonnet-4-5-20250929", 28.5),
        ("gpt-5.1-codex", 11.25),
        ("glm-4.7", 2.8),
        ("gemini-2.5-pro", 17.5),
    ],
)
def test_a_million_in_and_out_cost_as_listed(model, usd):
    tokens = TokenCounts(input=1_000_000, output=1_000_000)
    assert load_prices().cost(model, tokens) == pytest.approx(usd)


def test_list_of_prices_has_its_day():
    assert load_prices().as_of == "2026-11-30"
