"""Compare a run with its base: each contestant with itself, on the cells that the run planned."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from reb_action.model.comparison import Attempts, ContestantComparison, Regression
from reb_action.model.manifest import Level, contestant_of
from reb_action.model.scoreboard import Scoreboard
from reb_action.model.verdict import Scoring
from reb_action.score.comparison import compare_contestants
from reb_action.score.paired_tests import ALPHA
from reb_action.score.repositories import slug_of

Pair = tuple[str, str]
"""The slug of a repository and the id of a contestant."""


class Turn(StrEnum):
    """Where a cell went.

    `broken` and `fixed`: every attempt passed on one side and none on the other. `flipped`: the
    shares differ, and on one side some attempts pass and some fail.
    """

    BROKEN = "broken"
    FLIPPED = "flipped"
    FIXED = "fixed"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, kw_only=True, slots=True)
class CellChange:
    """One level of one contestant on one repository, before and now."""

    contestant: str
    level: Level
    repository: str
    before: Attempts
    now: Attempts

    @property
    def turn(self) -> Turn:
        """Where the cell went."""
        before, now = self.before, self.now
        if before.passed * now.counted == now.passed * before.counted:
            return Turn.UNCHANGED
        if before.passed % before.counted or now.passed % now.counted:
            return Turn.FLIPPED
        return Turn.FIXED if now.passed else Turn.BROKEN


def compare_with_base(
    base: Scoreboard, head: Scoreboard, *, levels: tuple[Level, ...], scoring: Scoring
) -> tuple[ContestantComparison, ...]:
    """Return each contestant of the head that the base has, against itself in the base."""
    names = {contestant_of(row.trial): row.name for row in (*base.trials, *head.trials)}
    planned = _restrict_board(base, set(_list_planned(head, names)), names)
    known = {row.name for row in planned.trials}
    shared = dict.fromkeys(score.name for score in head.agents if score.name in known)
    return tuple(
        compare_contestants(planned, head, names=(name, name), levels=levels, scoring=scoring)
        for name in shared
    )


def list_changes(comparisons: Iterable[ContestantComparison]) -> Iterator[CellChange]:
    """Yield every cell that counts on both sides, by level and repository."""
    for one in comparisons:
        for level in one.levels:
            for pair in level.pairs:
                yield CellChange(
                    contestant=one.b,
                    level=level.level,
                    repository=pair.repository,
                    before=pair.a,
                    now=pair.b,
                )


def has_changes(comparisons: Iterable[ContestantComparison]) -> bool:
    """Return whether any cell passes more or less often than before."""
    return any(change.turn is not Turn.UNCHANGED for change in list_changes(comparisons))


def list_worse(comparison: ContestantComparison) -> tuple[Level, ...]:
    """Return the levels at which a contestant is worse than before, beyond chance."""
    return tuple(
        level.level
        for level in comparison.levels
        if level.adjusted is not None and level.adjusted <= ALPHA and level.difference < 0
    )


def list_broken(comparison: ContestantComparison) -> list[CellChange]:
    """Return the cells of which every attempt passed before and none passes now."""
    return [change for change in list_changes((comparison,)) if change.turn is Turn.BROKEN]


def find_failed(rule: Regression | None, comparison: ContestantComparison) -> set[Level]:
    """Return the levels at which a contestant fails a rule of `fail-on`."""
    if rule is Regression.BROKEN:
        return {change.level for change in list_broken(comparison)}
    return set() if rule is None else set(list_worse(comparison))


def _restrict_board(board: Scoreboard, pairs: set[Pair], names: Mapping[str, str]) -> Scoreboard:
    """Return a board with only the trials of these pairs; its scores of agents are as before."""
    return replace(
        board,
        trials=tuple(row for row in board.trials if (slug_of(row.repository), row.name) in pairs),
        missing={id_: why for id_, why in board.missing.items() if _pair_of(id_, names) in pairs},
        invalid={id_: why for id_, why in board.invalid.items() if _pair_of(id_, names) in pairs},
    )


def _list_planned(head: Scoreboard, names: Mapping[str, str]) -> Iterator[Pair]:
    yield from ((slug_of(row.repository), row.name) for row in head.trials)
    yield from (_pair_of(trial, names) for trial in head.missing)


def _pair_of(trial: str, names: Mapping[str, str]) -> Pair:
    """Return the pair that a trial's id names; `names` are known of other trials."""
    contestant = contestant_of(trial)
    return trial.rsplit(".", 2)[0], names.get(contestant, contestant)
