"""Bounds for the usage of a call whose answer did not report it, such as a cut stream."""

import math
from dataclasses import dataclass
from typing import Final

from reb_action.gateway.upstream.usage import TokenCounts

TOKENS_PER_BYTE: Final = 0.5
"""Upper bound for requests in JSON: measured requests have 0.2 to 0.35 tokens per byte."""

_DENSITY_MARGIN: Final = 1.25
_DEFAULT_MAX_OUTPUT: Final = 32_000


@dataclass(frozen=True, kw_only=True, slots=True)
class UsageBounds:
    """The least and the most that a call can have used."""

    low: TokenCounts
    high: TokenCounts


class DensityMeter:
    """Learns from counted calls how many tokens a byte of this trial's requests has at most."""

    def __init__(self) -> None:
        self.tokens_per_byte = TOKENS_PER_BYTE

    def add(self, *, sent: int, input_tokens: int) -> None:
        """Take a counted call into account."""
        if sent:
            density = _DENSITY_MARGIN * input_tokens / sent
            self.tokens_per_byte = max(self.tokens_per_byte, density)


def estimate_usage(
    known: TokenCounts,
    *,
    sent: int,
    received: int,
    max_output: int | None,
    is_complete: bool,
    tokens_per_byte: float,
) -> UsageBounds:
    """Return bounds for a call; `known` are the counts that the answer reported before it ended.

    A complete answer has at most one token per received byte. An incomplete one may have been
    generated further than it was sent, up to the request's own limit.
    """
    limit = _DEFAULT_MAX_OUTPUT if max_output is None else max_output
    most = min(limit, received) if is_complete else limit
    request_tokens = math.ceil(sent * tokens_per_byte)
    low = TokenCounts(input=known.input or 0, output=known.output or 0)
    high = TokenCounts(
        input=request_tokens if known.input is None else known.input,
        output=max(most, known.output or 0),
    )
    return UsageBounds(low=low, high=high)
