"""Rules of the budget: when it is used up, and the charge for a call without a known cost."""

from dataclasses import replace

from reb_action.gateway.call import ModelCall
from reb_action.gateway.estimate import UsageBounds
from reb_action.gateway.json_text import shorten
from reb_action.gateway.prices import Prices
from reb_action.gateway.settings import Budget
from reb_action.gateway.usage_total import UsageTotal


def find_used_up(budget: Budget, calls: int, total: UsageTotal) -> str | None:
    """Return which part of the budget is used up, or None."""
    if budget.calls is not None and calls >= budget.calls:
        return f"the budget of {budget.calls} model calls is used up"
    if budget.tokens is not None and total.max_tokens >= budget.tokens:
        return f"the budget of {budget.tokens} tokens is used up{total.estimate_note}"
    if budget.cost_usd is not None and total.max_cost_usd >= budget.cost_usd:
        return f"the budget of {budget.cost_usd} USD is used up{total.estimate_note}"
    return None


def find_unpriced(budget: Budget, prices: Prices, model: str) -> str | None:
    """Return why a budget in US dollars cannot be enforced for a model, or None."""
    if budget.cost_usd is None or prices.find(model) is not None:
        return None
    return f"the price of {shorten(model)} is unknown, so the USD budget cannot be enforced"


def charge_call(prices: Prices, call: ModelCall) -> float:
    """Return the US dollars of a call at the requested model's price, without searches.

    A budget must also end if the answering model, a search or the cache has no known price.
    """
    tokens = replace(call.summary.tokens, searches=None)
    cost = prices.cost(call.model, tokens)
    if cost is not None:
        return cost
    bounds = prices.cost_bounds(call.model, UsageBounds(low=tokens, high=tokens))
    return 0.0 if bounds is None else bounds[1]
