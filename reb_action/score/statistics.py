"""Confidence intervals of shares, from numbers of trials."""

from math import sqrt
from typing import Final

_Z: Final = 1.959963984540054
"""The normal quantile of 0.975: two sides of 95 %."""


def wilson(passed: int, counted: int) -> tuple[float, float] | None:
    """Return Wilson's score interval at 95 %, each bound from 0 to 1; None where nothing counts.

    E. B. Wilson, "Probable inference, the law of succession, and statistical inference", 1927;
    without continuity correction. It assumes independent trials.
    """
    if counted == 0:
        return None
    share, weight = passed / counted, _Z**2 / counted
    centre = share + weight / 2
    spread = _Z * sqrt(share * (1 - share) / counted + weight / (4 * counted))
    low, high = (centre - spread) / (1 + weight), (centre + spread) / (1 + weight)
    # At the ends a bound is the end itself; floating point misses it by a rounding.
    return (0.0 if passed == 0 else low), (1.0 if passed == counted else high)
