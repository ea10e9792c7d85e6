"""Exact paired tests over repositories, Holm's correction, and the power of a design.

A repository is the unit. Its attempts are repeats: they make its share more precise, and are not
separate trials.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, lcm, sqrt
from random import Random
from statistics import NormalDist, fmean, variance
from typing import Final

ALPHA: Final = 0.05
POWER: Final = 0.8
RESAMPLES: Final = 2000
_SEED: Final = 17
"""The same data always give the same interval."""
_ROUNDING: Final = 1e-12


@dataclass(frozen=True, kw_only=True, slots=True)
class Spread:
    """The variance of the repositories' differences, and the part of it that attempts cause.

    `within` is the variance of one attempt on each side; None where a repository has one attempt.
    `opposed` is the share of repositories that differ against the mean; None unless every one has
    one attempt.
    """

    total: float
    within: float | None
    attempts: float
    opposed: float | None = None

    @property
    def between(self) -> float:
        """The variance that more attempts would not remove."""
        return max(0.0, self.total - (self.within or 0.0) / self.attempts)


def permutation_test(differences: Sequence[Fraction]) -> float | None:
    """Return the two-sided p value of paired differences, one for each repository.

    The exact permutation test: in each repository all attempts of one side may be those of the
    other. With one attempt it is McNemar's exact test. None where no repository differs.
    """
    nonzero = [difference for difference in differences if difference]
    if not nonzero:
        return None
    unit = lcm(*(difference.denominator for difference in nonzero))
    steps = [int(abs(difference) * unit) for difference in nonzero]
    ways = {0: 1}
    for step in steps:
        grown: defaultdict[int, int] = defaultdict(int)
        for total, count in ways.items():
            grown[total + step] += count
            grown[total - step] += count
        ways = grown
    observed = abs(int(sum(nonzero) * unit))
    extreme = sum(count for total, count in ways.items() if abs(total) >= observed)
    return float(Fraction(extreme, 2 ** len(nonzero)))


def adjust_holm(values: Sequence[float | None]) -> tuple[float | None, ...]:
    """Return p values adjusted for their number by Holm's method; None is 1, and counts.

    S. Holm, "A simple sequentially rejective multiple test procedure", 1979.
    """
    order = sorted(range(len(values)), key=lambda place: _or_one(values[place]))
    adjusted: list[float | None] = [None] * len(values)
    largest = 0.0
    for rank, place in enumerate(order):
        largest = max(largest, min(1.0, (len(values) - rank) * _or_one(values[place])))
        adjusted[place] = None if values[place] is None else largest
    return tuple(adjusted)


def bootstrap_interval(differences: Sequence[Fraction]) -> tuple[float, float] | None:
    """Return the 95 % interval of the mean difference, from repositories drawn again.

    None where no repository differs: then the data do not tell how much they vary.
    """
    values = [float(difference) for difference in differences]
    if not any(values):
        return None
    generator = Random(_SEED)  # noqa: S311
    means = sorted(fmean(generator.choices(values, k=len(values))) for _ in range(RESAMPLES))
    return means[round(0.025 * RESAMPLES)], means[round(0.975 * RESAMPLES) - 1]


def measure_spread(pairs: Sequence[tuple[tuple[int, int], tuple[int, int]]]) -> Spread | None:
    """Return how differences vary, from passed and counted of both sides; None below 2 pairs."""
    if len(pairs) < 2:
        return None
    differences = [b[0] / b[1] - a[0] / a[1] for a, b in pairs]
    counts = [side[1] for pair in pairs for side in pair]
    within, opposed = None, None
    if min(counts) > 1:
        within = fmean(sum(_attempt_variance(*side) for side in pair) for pair in pairs)
    if max(counts) == 1:
        sides = [sum(one > 0 for one in differences), sum(one < 0 for one in differences)]
        opposed = min(sides) / len(pairs)
    return Spread(
        total=variance(differences), within=within, attempts=fmean(counts), opposed=opposed
    )


def least_differing(alpha: float) -> int:
    """Return how many repositories must differ, all in one direction, for p at most `alpha`."""
    number = 1
    while 2.0 ** (1 - number) > alpha + _ROUNDING:
        number += 1
    return number


def find_detectable(repositories: int, spread: Spread | None, *, alpha: float) -> float | None:
    """Return the smallest mean difference found with 80 % probability; None: none is.

    Normal approximation, and never less than the exact test can reject with.
    """
    least = least_differing(alpha)
    if repositories < least or spread is None:
        return None
    if spread.opposed is None:
        found = _factor(alpha) * sqrt(spread.total / repositories)
        return max(least / repositories, found) if found <= 1 else None
    for differing in range(least, repositories + 1):
        difference = differing / repositories
        if _mcnemar_size(difference, spread.opposed, alpha=alpha) <= repositories:
            return difference
    return None


def find_repositories(difference: float, spread: Spread | None, *, alpha: float) -> int | None:
    """Return how many repositories would find a difference like this with 80 % probability."""
    if spread is None or not difference:
        return None
    needed = (
        _factor(alpha) ** 2 * spread.total / difference**2
        if spread.opposed is None
        else _mcnemar_size(abs(difference), spread.opposed, alpha=alpha)
    )
    return max(least_differing(alpha), ceil(needed - _ROUNDING))


def find_attempts(
    difference: float, repositories: int, spread: Spread | None, *, alpha: float
) -> int | None:
    """Return how many attempts at each of these repositories would find such a difference.

    None where attempts were not repeated, or where the repositories vary too much in themselves.
    """
    if spread is None or spread.within is None or not difference:
        return None
    room = repositories * difference**2 / _factor(alpha) ** 2 - spread.between
    return max(1, ceil(spread.within / room - _ROUNDING)) if room > 0 else None


def _mcnemar_size(difference: float, opposed: float, *, alpha: float) -> float:
    """Return the pairs that McNemar's test needs for a difference, with `opposed` against it.

    R. J. Connor, "Sample size for testing differences in proportions for the paired-sample design",
    1987. The last term is the correction for an exact test, which rejects less often than the
    normal one.
    """
    normal = NormalDist()
    discordant = 2 * opposed + difference
    spread = sqrt(max(0.0, discordant - difference**2))
    root = normal.inv_cdf(1 - alpha / 2) * sqrt(discordant) + normal.inv_cdf(POWER) * spread
    return (root / difference) ** 2 + 1 / difference


def _attempt_variance(passed: int, counted: int) -> float:
    # The unbiased variance of one attempt.
    share = passed / counted
    return share * (1 - share) * counted / (counted - 1)


def _factor(alpha: float) -> float:
    normal = NormalDist()
    return normal.inv_cdf(1 - alpha / 2) + normal.inv_cdf(POWER)


def _or_one(value: float | None) -> float:
    return 1.0 if value is None else value
