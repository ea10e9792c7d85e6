"""Foresee the answer of a gate: what results that are still open can and cannot change.

The rule is stochastic curtailment at certainty: a run may stop when every possible result of its
open trials gives the same answer. So a shortened run always gives the answer of the whole run,
however often one looks, in whatever order the trials run, and whatever the data are.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from reb_action.model.comparison import Attempts, Regression
from reb_action.model.manifest import Level
from reb_action.score.paired_tests import ALPHA, adjust_holm, permutation_test


class Answer(StrEnum):
    """The answer of a gate that no open trial can change."""

    PASSES = "passes"
    FAILS = "fails"


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenCell:
    """One level on one repository: the base's attempts, those of now, and how many are open.

    An open attempt may pass, fail, or not count.
    """

    before: Attempts
    now: Attempts
    open: int

    @property
    def lowest(self) -> Fraction:
        """The difference from -1 to 1 if every open attempt fails; 0 if none can count."""
        return self._difference(self.now.passed)

    @property
    def highest(self) -> Fraction:
        """The difference from -1 to 1 if every open attempt passes; 0 if none can count."""
        return self._difference(self.now.passed + self.open)

    @property
    def can_break(self) -> bool:
        """Whether every attempt passed before and none needs to pass now."""
        full = self.before.passed == self.before.counted
        return full and not self.now.passed and self.now.counted + self.open > 0

    @property
    def is_broken(self) -> bool:
        """Whether every attempt passed before, and now none passes and none is open."""
        return self.can_break and not self.open

    def _difference(self, passed: int) -> Fraction:
        counted = self.now.counted + self.open
        if not counted:
            return Fraction(0)
        return Fraction(passed, counted) - Fraction(self.before.passed, self.before.counted)


Cells = Mapping[Level, Collection[OpenCell]]
"""The cells of one contestant by level, without those that the base does not count."""


def foresee(rule: Regression, cells: Cells) -> Answer | None:
    """Return the answer of a rule for one contestant, None while it is open."""
    if any(list_failing(rule, cells)):
        return Answer.FAILS
    return None if can_fail(rule, cells) else Answer.PASSES


def list_failing(rule: Regression, cells: Cells) -> Iterator[Level]:
    """Yield the levels that fail, for any result of the open trials."""
    if rule is Regression.BROKEN:
        yield from (level for level, each in cells.items() if any(one.is_broken for one in each))
        return
    most = {level: _most(each) for level, each in cells.items() if _may_pair(each)}
    for level, each in cells.items():
        of_level = _worse_p(one.highest for one in each)
        if level in most and _rejects(level, {**most, level: of_level}):
            yield level


def can_fail(rule: Regression, cells: Cells) -> bool:
    """Return whether some result of the open trials fails the rule.

    For `regression` the bound considers each level's worst case for itself, so it may be True where
    no result fails, and is never False where one does.
    """
    if rule is Regression.BROKEN:
        return any(one.can_break for each in cells.values() for one in each)
    # A level without a pair may stay without one: then it takes nothing from the 5 % of the others.
    least = {level: _least(each) for level, each in cells.items() if _has_pair(each)}
    return any(
        _rejects(level, {**least, level: _worse_p(one.lowest for one in each)})
        for level, each in cells.items()
    )


def _rejects(level: Level, values: Mapping[Level, float]) -> bool:
    adjusted = dict(zip(values, adjust_holm(list(values.values())), strict=True))
    p = adjusted[level]
    return p is not None and p <= ALPHA


def _worse_p(differences: Iterable[Fraction]) -> float:
    """Return the p value of being worse; 1 for a mean that is not below 0.

    It grows with each difference. A sign pattern is as extreme as the data if the differences whose
    sign it turns sum to 0 or more, and a larger difference only adds such patterns.
    """
    every = tuple(differences)
    p = permutation_test(every) if sum(every) < 0 else None
    return 1.0 if p is None else p


def _least(cells: Collection[OpenCell]) -> float:
    """Return a lower bound of a level's two-sided p value."""
    worse = _worse_p(one.lowest for one in cells)
    return min(worse, _worse_p(-one.highest for one in cells))


def _most(cells: Collection[OpenCell]) -> float:
    """Return an upper bound of a level's two-sided p value."""
    worse = _worse_p(one.highest for one in cells)
    return min(worse, _worse_p(-one.lowest for one in cells))


def _has_pair(cells: Collection[OpenCell]) -> bool:
    return any(one.now.counted for one in cells)


def _may_pair(cells: Collection[OpenCell]) -> bool:
    return any(one.now.counted + one.open for one in cells)
