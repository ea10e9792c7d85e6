"""Price lists: the shipped one, and the user's own before it."""

import pytest

from reb_action.errors import DocumentError
from reb_action.gateway.estimate import UsageBounds
from reb_action.gateway.prices import Price, Prices, load_prices
from reb_action.gateway.upstream.usage import TokenCounts

ONE_EACH = TokenCounts(input=1_000_000, output=1_000_000)


def test_own_list_comes_first_and_leaves_the_rest(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(
        "as_of: 2026-11-01\n"
        "models:\n"
        "  DeepSeek-V3.1-Nex-N1: {input: 0.5, output: 1.5}\n"
        "  claude-sonnet-4-5: {input: 1, output: 1}\n"
    )
    prices = load_prices(path)
    assert prices.cost("DeepSeek-V3.1-Nex-N1", ONE_EACH) == 2.0
    assert prices.cost("nex-agi/deepseek-v3.1-nex-n1:free", ONE_EACH) == 2.0
    assert prices.cost("claude-sonnet-4-5", ONE_EACH) == 2.0
    assert prices.cost("gpt-5.1-codex", ONE_EACH) == pytest.approx(11.25)
    assert prices.as_of == "2026-11-01"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1", "mine.yaml: models is missing; write models: with a price for each name"),
        ("models: {m: 1}", "mine.yaml: m is not a price such as {input: 1, output: 2}"),
        ("models: {m: {input: 1}}", "mine.yaml: m: output is missing"),
        (
            "models: {m: {input: -1, output: 1}}",
            "mine.yaml: m: input is -1; write US dollars, 0 or more",
        ),
        (
            "models: {m: {input: 1, output: x}}",
            'mine.yaml: m: output is "x"; write US dollars, 0 or more',
        ),
        (
            "models: {m: {input: 1, output: 1, in: 2}}",
            (
                'mine.yaml: m: "in" is unknown; use above, cache_read, cache_write,'
                " cache_write_long, input, output, web_search"
            ),
        ),
    ],
)
def test_list_that_is_wrong_names_file_model_and_key(tmp_path, text, message):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(DocumentError) as caught:
        load_prices(path)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "name",
    ["anthropic/claude-sonnet-4.5", "openai/gpt-5.1-codex", "deepseek/deepseek-chat-v3.1"],
)
def test_names_of_a_router_have_a_price(name):
    assert load_prices().find(name) is not None


def test_searches_of_the_vendor_are_priced():
    tokens = TokenCounts(input=0, output=0, searches=3)
    assert Price(input=1, output=1, web_search=10).cost(tokens) == pytest.approx(0.03)
    assert Price(input=1, output=1).cost(tokens) is None


def test_bounds_of_a_cost_go_from_the_cache_to_writing_it():
    price = Price(input=10, cache_read=1, cache_write=12.5, output=50)
    bounds = UsageBounds(
        low=TokenCounts(input=1_000_000, output=0), high=TokenCounts(input=2_000_000, output=1000)
    )
    assert price.cost_bounds(bounds) == (1.0, 25.05)
    assert Prices().cost_bounds("m", bounds) is None


def test_bounds_of_a_cost_know_long_requests():
    long = Price(input=20, output=100, above=100)
    price = Price(input=10, output=50, long=long)
    bounds = UsageBounds(low=TokenCounts(input=50, output=0), high=TokenCounts(input=150, output=0))
    assert price.cost_bounds(bounds) == (50 * 10 / 1e6, 150 * 20 / 1e6)
