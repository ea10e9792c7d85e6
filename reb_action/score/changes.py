"""Compare two scoreboards: fixed, broken and unchanged pairs for each level."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from reb_action.model.manifest import Level, Outcome, contestant_of
from reb_action.model.scoreboard import Scoreboard, TrialRow
from reb_action.model.verdict import Scoring
from reb_action.score.statistics import sign_test

_UNCOUNTED: Final = (Outcome.NOT_APPLICABLE, Outcome.INVALID)


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Pair:
    """One contestant on one repository: what a change is told of, over all its attempts.

    Contestants are compared by their ids: a change of an agent or a budget is what is measured.
    """

    repository: str
    contestant: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Count:
    """Attempts that passed, of those that count."""

    passed: int
    counted: int


class Turn(StrEnum):
    """Where a pair went; `NEW` and `GONE` have attempts that count on one side alone."""

    FIXED = "fixed"
    BROKEN = "broken"
    UNCHANGED = "unchanged"
    NEW = "new"
    GONE = "gone"


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """One pair at one level, before and now; None where no attempt counts."""

    pair: Pair
    before: Count | None
    now: Count | None

    @property
    def turn(self) -> Turn:
        """A larger share that passed is fixed, a smaller one is broken."""
        if self.before is None or self.now is None:
            return Turn.NEW if self.before is None else Turn.GONE
        # Shares are compared over their common denominator.
        before = self.before.passed * self.now.counted
        now = self.now.passed * self.before.counted
        if now == before:
            return Turn.UNCHANGED
        return Turn.FIXED if now > before else Turn.BROKEN


@dataclass(frozen=True, kw_only=True, slots=True)
class LevelChange:
    """One level: every pair that counts before or now, by where it went."""

    level: Level
    turns: Mapping[Turn, tuple[Change, ...]]

    def of(self, turn: Turn) -> tuple[Change, ...]:
        """Return the changes of one kind, in the order of their pairs."""
        return self.turns.get(turn, ())

    @property
    def chance(self) -> float | None:
        """How often chance alone splits fixed and broken at least so unevenly; see `sign_test`."""
        return sign_test(len(self.of(Turn.FIXED)), len(self.of(Turn.BROKEN)))


def compare(
    base: Scoreboard, head: Scoreboard, *, levels: tuple[Level, ...], scoring: Scoring
) -> tuple[LevelChange, ...]:
    """Return the change of each level; of the base only what the head planned is looked at."""
    names = {contestant_of(row.trial): row.name for row in (*base.trials, *head.trials)}
    missing = (_pair_of_missing(trial, names) for trial in head.missing)
    planned = sorted({*map(_pair, head.trials), *missing})
    before, now = _counts(base, levels, scoring), _counts(head, levels, scoring)
    return tuple(_level_change(one, planned, before[one], now[one]) for one in levels)


def has_changes(found: Iterable[LevelChange]) -> bool:
    """Return whether any pair is fixed or broken."""
    return any(one.of(Turn.FIXED) or one.of(Turn.BROKEN) for one in found)


def _level_change(
    level: Level, planned: Iterable[Pair], before: Mapping[Pair, Count], now: Mapping[Pair, Count]
) -> LevelChange:
    turns: defaultdict[Turn, list[Change]] = defaultdict(list)
    for pair in planned:
        if pair in before or pair in now:
            change = Change(pair=pair, before=before.get(pair), now=now.get(pair))
            turns[change.turn].append(change)
    return LevelChange(level=level, turns={turn: tuple(of) for turn, of in turns.items()})


def _counts(
    board: Scoreboard, levels: Iterable[Level], scoring: Scoring
) -> dict[Level, dict[Pair, Count]]:
    found: dict[Level, defaultdict[Pair, list[Outcome]]] = {
        level: defaultdict(list) for level in levels
    }
    for row in board.trials:
        pair = _pair(row)
        for level, cell in row.cells.items():
            if level in found and cell.by(scoring) not in _UNCOUNTED:
                found[level][pair].append(cell.by(scoring))
    return {
        level: {pair: _count(outcomes) for pair, outcomes in of.items()}
        for level, of in found.items()
    }


def _count(outcomes: list[Outcome]) -> Count:
    return Count(passed=outcomes.count(Outcome.PASSED), counted=len(outcomes))


def _pair(row: TrialRow) -> Pair:
    return Pair(repository=row.repository, contestant=row.name)


def _pair_of_missing(trial: str, names: Mapping[str, str]) -> Pair:
    """Return the pair that a trial's id names; `names` are known of other trials."""
    slug, name = trial.rsplit(".", 2)[0], contestant_of(trial)
    return Pair(repository=slug.replace("__", "/", 1), contestant=names.get(name, name))
