"""Says what differs between two scoreboards: per level, what is fixed, broken and unchanged."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from reb_action.model.manifest import Level, Outcome
from reb_action.model.scoreboard import Scoreboard, TrialRow
from reb_action.model.verdict import Scoring
from reb_action.statistics import sign_test

_UNCOUNTED: Final = (Outcome.NOT_APPLICABLE, Outcome.INVALID)


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Pair:
    """One agent on one repository: what a change is told of, over all its attempts."""

    repository: str
    agent: str


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
    """One level: every pair that counts before or now."""

    level: Level
    changes: tuple[Change, ...]

    def of(self, turn: Turn) -> tuple[Change, ...]:
        """Return the changes of one kind."""
        return tuple(one for one in self.changes if one.turn is turn)

    @property
    def chance(self) -> float | None:
        """How often chance alone splits fixed and broken at least so unevenly; see `sign_test`."""
        return sign_test(len(self.of(Turn.FIXED)), len(self.of(Turn.BROKEN)))


def compare(
    base: Scoreboard, head: Scoreboard, *, levels: tuple[Level, ...], scoring: Scoring
) -> tuple[LevelChange, ...]:
    """Return the change of each level; of the base only what the head planned is looked at."""
    planned = _pairs(head)
    return tuple(
        LevelChange(
            level=level,
            changes=_changes(_counts(base, level, scoring), _counts(head, level, scoring), planned),
        )
        for level in levels
    )


def differs(found: Iterable[LevelChange]) -> bool:
    """Say whether anything is fixed or broken."""
    return any(one.of(Turn.FIXED) or one.of(Turn.BROKEN) for one in found)


def _changes(
    before: Mapping[Pair, Count], now: Mapping[Pair, Count], planned: frozenset[Pair]
) -> tuple[Change, ...]:
    return tuple(
        Change(pair=pair, before=before.get(pair), now=now.get(pair))
        for pair in sorted(planned)
        if pair in before or pair in now
    )


def _counts(board: Scoreboard, level: Level, scoring: Scoring) -> dict[Pair, Count]:
    found: dict[Pair, Count] = {}
    for row in board.trials:
        outcome = row.cells[level].by(scoring) if level in row.cells else Outcome.NOT_APPLICABLE
        if outcome in _UNCOUNTED:
            continue
        old = found.get(_pair(row), Count(passed=0, counted=0))
        passed = old.passed + (outcome is Outcome.PASSED)
        found[_pair(row)] = Count(passed=passed, counted=old.counted + 1)
    return found


def _pairs(board: Scoreboard) -> frozenset[Pair]:
    return frozenset((*map(_pair, board.trials), *map(_of_missing, board.missing)))


def _pair(row: TrialRow) -> Pair:
    return Pair(repository=row.repository, agent=row.agent)


def _of_missing(trial: str) -> Pair:
    """Return the pair that a trial's id names: owner__name.agent.attempt."""
    slug, agent, _ = (*trial.rsplit(".", 2), "", "")[:3]
    return Pair(repository=slug.replace("__", "/", 1), agent=agent)
