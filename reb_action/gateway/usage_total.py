"""The usage of all calls of a trial: the counted sum, and bounds for the calls without a count."""

from reb_action.gateway.estimate import UsageBounds
from reb_action.gateway.upstream.usage import TokenCounts
from reb_action.model.agent import Usage, UsageEstimate
from reb_action.model.quantity import count


class UsageTotal:
    """Adds up calls; an unknown price makes the cost unknown, never lower."""

    def __init__(self) -> None:
        self.searches = 0
        self._tokens = TokenCounts()
        self._turns = 0
        self._tool_calls = 0
        self._cost: float | None = None
        self._cost_is_known = True
        self._charged = 0.0
        self._estimated_calls = 0
        self._low = TokenCounts(input=0, output=0)
        self._high = TokenCounts(input=0, output=0)
        self._cost_low = 0.0
        self._cost_high = 0.0
        self._cost_bounds_are_known = True

    @classmethod
    def restore(
        cls, usage: Usage, estimate: UsageEstimate | None, *, searches: int, charged_usd: float
    ) -> "UsageTotal":
        """Return the total of an earlier gateway of the same trial, to be added to."""
        total = cls()
        total.searches = searches
        total._tokens = TokenCounts(
            input=usage.input_tokens,
            cache_read=usage.cache_read_tokens,
            cache_write=usage.cache_write_tokens,
            output=usage.output_tokens,
        )
        total._turns, total._tool_calls = usage.turns or 0, usage.tool_calls or 0
        total._cost, total._charged = usage.cost_usd, charged_usd
        total._cost_is_known = usage.cost_usd is not None or usage.input_tokens is None
        if estimate is not None:
            total._restore_estimate(estimate)
        return total

    def _restore_estimate(self, estimate: UsageEstimate) -> None:
        self._estimated_calls = estimate.calls
        self._low = TokenCounts(input=estimate.input_tokens_min, output=estimate.output_tokens_min)
        self._high = TokenCounts(input=estimate.input_tokens_max, output=estimate.output_tokens_max)
        self._cost_bounds_are_known = estimate.cost_usd_max is not None
        self._cost_low = estimate.cost_usd_min or 0.0
        self._cost_high = estimate.cost_usd_max or 0.0

    @property
    def charged_usd(self) -> float:
        """US dollars charged to the budget for counted calls without a known cost."""
        return self._charged

    def add_turn(self, *, tool_calls: int) -> None:
        """Count a complete answer."""
        self._turns += 1
        self._tool_calls += tool_calls

    def add_counted(self, tokens: TokenCounts, cost: float | None, *, charge: float) -> None:
        """Add a call that reported its usage; `charge` goes to the budget where cost is unknown."""
        self._tokens = self._tokens.plus(tokens)
        self.searches += tokens.searches or 0
        if cost is None:
            self._cost_is_known = False
            self._charged += charge
        else:
            self._cost = (self._cost or 0.0) + cost

    def add_estimated(self, bounds: UsageBounds, cost: tuple[float, float] | None) -> None:
        """Add a call that did not report its usage."""
        self._estimated_calls += 1
        self._low, self._high = self._low.plus(bounds.low), self._high.plus(bounds.high)
        if cost is None:
            self._cost_bounds_are_known = False
        else:
            self._cost_low += cost[0]
            self._cost_high += cost[1]

    @property
    def max_tokens(self) -> int:
        """Input and output tokens that are charged against the budget."""
        counted = (self._tokens.input or 0) + (self._tokens.output or 0)
        return counted + (self._high.input or 0) + (self._high.output or 0)

    @property
    def max_cost_usd(self) -> float:
        """US dollars that are charged against the budget."""
        return (self._cost or 0.0) + self._charged + self._cost_high

    @property
    def estimate_note(self) -> str:
        """How many calls the charge estimates, as the end of a sentence."""
        if not self._estimated_calls:
            return ""
        return f", with estimates for {count(self._estimated_calls, 'call')} that reported no usage"

    def usage(self) -> Usage:
        """Return the sum of the counted calls."""
        tokens, cost = self._tokens, self._cost if self._cost_is_known else None
        return Usage(
            input_tokens=tokens.input,
            cache_read_tokens=tokens.cache_read,
            cache_write_tokens=tokens.cache_write,
            output_tokens=tokens.output,
            turns=self._turns,
            tool_calls=self._tool_calls,
            cost_usd=None if cost is None else round(cost, 6),
        )

    def estimate(self) -> UsageEstimate | None:
        """Return the bounds of the other calls; None if all calls were counted."""
        if not self._estimated_calls:
            return None
        known = self._cost_bounds_are_known
        return UsageEstimate(
            calls=self._estimated_calls,
            input_tokens_min=self._low.input or 0,
            input_tokens_max=self._high.input or 0,
            output_tokens_min=self._low.output or 0,
            output_tokens_max=self._high.output or 0,
            cost_usd_min=round(self._cost_low, 6) if known else None,
            cost_usd_max=round(self._cost_high, 6) if known else None,
        )
