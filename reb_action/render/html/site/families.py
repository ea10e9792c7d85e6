"""Results by domain: the levels that each contestant passed in each family of domains."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from reb_action.corpus.domains import FAMILIES, OTHER, Family, find_family
from reb_action.judge.levels import LEVELS
from reb_action.model.manifest import Level, Outcome
from reb_action.model.scoreboard import Scoreboard, Share, TrialRow
from reb_action.render.html.site.facts import BoardFacts
from reb_action.render.html.site.leaderboard import Row
from reb_action.render.html.site.table import (
    LEVEL_COLUMNS,
    NOTHING,
    UNKNOWN,
    Column,
    Field,
    share_field,
)
from reb_action.render.why import NOT_ASKED

FAMILY_COLUMNS: Final = (
    Column(name="contestant"),
    Column(name="passed", title="of all levels", first="descending"),
    *LEVEL_COLUMNS,
)
_COUNTED: Final = (Outcome.PASSED, Outcome.FAILED, Outcome.BLOCKED)


@dataclass(frozen=True, kw_only=True, slots=True)
class FamilyRow:
    """A contestant in a family: all levels, and each level."""

    row: Row
    fields: tuple[Field, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class FamilySection:
    """A family: its repositories with their domains, and a row for each contestant."""

    family: Family
    repositories: tuple[tuple[str, str], ...]
    rows: tuple[FamilyRow, ...]


def list_families(
    scoreboard: Scoreboard, rows: Iterable[Row], facts: BoardFacts
) -> tuple[FamilySection, ...]:
    """Return the families that have a trial."""
    every = tuple(rows)
    trials: dict[str, list[TrialRow]] = {}
    for trial in scoreboard.trials:
        key = find_family(facts.of(trial.trial).domain).key
        trials.setdefault(key, []).append(trial)
    return tuple(
        _section(family, trials[family.key], every, facts)
        for family in (*FAMILIES, OTHER)
        if family.key in trials
    )


def overview(
    sections: tuple[FamilySection, ...], rows: Iterable[Row]
) -> tuple[tuple[Row, tuple[Field, ...]], ...]:
    """Return each contestant with the levels that it passed in each family."""
    by_family = [
        {one.row.ranked.score.name: one.fields[0] for one in section.rows} for section in sections
    ]
    none = Field(text=NOTHING, absent=True, key=UNKNOWN)
    return tuple(
        (row, tuple(fields.get(row.ranked.score.name, none) for fields in by_family))
        for row in rows
    )


def _section(
    family: Family, trials: list[TrialRow], rows: tuple[Row, ...], facts: BoardFacts
) -> FamilySection:
    domains = {trial.repository: facts.of(trial.trial).domain for trial in trials}
    by_name: dict[str, list[TrialRow]] = {}
    for trial in trials:
        by_name.setdefault(trial.name, []).append(trial)
    present = [
        FamilyRow(row=row, fields=_fields(by_name[row.ranked.score.name]))
        for row in rows
        if row.ranked.score.name in by_name
    ]
    return FamilySection(
        family=family, repositories=tuple(sorted(domains.items())), rows=tuple(present)
    )


def _fields(trials: list[TrialRow]) -> tuple[Field, ...]:
    counts = {level: _share(trials, (level,)) for level in Level}
    asked = {level for trial in trials for level in trial.cells}
    levels = (
        _short(counts[spec.level])
        if spec.level in asked
        else Field(text=NOT_ASKED, absent=True, key=UNKNOWN)
        for spec in LEVELS
    )
    return _short(_share(trials, tuple(Level))), *levels


def _share(trials: Iterable[TrialRow], levels: tuple[Level, ...]) -> Share:
    outcomes = [
        trial.cells[level].outcome for trial in trials for level in levels if level in trial.cells
    ]
    counted = sum(outcome in _COUNTED for outcome in outcomes)
    return Share(
        passed=outcomes.count(Outcome.PASSED),
        counted=counted,
        unseen=outcomes.count(Outcome.INVALID),
    )


def _short(share: Share) -> Field:
    """Return a share as per cent and counts; a family is too small for a bar and an interval."""
    field = share_field(share)
    return Field(text=field.text, small=field.small, key=field.key, absent=field.absent)
