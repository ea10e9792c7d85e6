"""The rows of the table of all trials, and what it can be filtered by."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from reb_action.corpus.domains import find_family
from reb_action.judge.levels import LEVELS
from reb_action.model.manifest import Outcome
from reb_action.model.scoreboard import Scoreboard, TrialRow
from reb_action.render.contestants import title_of
from reb_action.render.escape import clean
from reb_action.render.html.site.facts import BoardFacts, TrialFacts
from reb_action.render.html.site.failures import count_causes
from reb_action.render.html.site.table import (
    LEVEL_COLUMNS,
    UNKNOWN,
    Column,
    Field,
    key_of,
    outcome_field,
)
from reb_action.render.quantities import duration

TRIAL_COLUMNS: Final = (
    Column(name="trial"),
    *LEVEL_COLUMNS,
    Column(name="first failure"),
    Column(name="agent time"),
    Column(name="cost", title="USD"),
    Column(name="measured", first="descending"),
)
_REASON: Final = 110


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """The first level that failed, and why."""

    level: str
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class TrialLine:
    """One trial; `page` is the address of its page, if it has one."""

    trial: TrialRow
    agent: str
    page: str | None
    fields: tuple[Field, ...]
    failure: Failure | None
    seconds: Field
    cost: Field
    facts: TrialFacts
    family: str
    causes: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """The trials of one repository, which have their own table.

    A browser lays out only the tables that are in sight, so thousands of trials open at once.
    """

    repository: str
    domain: str
    lines: tuple[TrialLine, ...]


def trial_lines(
    scoreboard: Scoreboard, pages: Mapping[str, str], facts: BoardFacts
) -> tuple[TrialLine, ...]:
    """Return a row for every trial that has a verdict."""
    return tuple(_line(trial, pages, facts.of(trial.trial)) for trial in scoreboard.trials)


def group_lines(lines: Iterable[TrialLine]) -> tuple[Group, ...]:
    """Return the rows by repository."""
    groups: dict[str, list[TrialLine]] = {}
    for line in lines:
        groups.setdefault(line.trial.repository, []).append(line)
    return tuple(
        Group(
            repository=repository,
            domain=rows[0].facts.domain.replace("_", " "),
            lines=tuple(rows),
        )
        for repository, rows in sorted(groups.items())
    )


def agents(scoreboard: Scoreboard) -> tuple[str, ...]:
    """Return the agents of all trials, in the order of the leaderboard."""
    every = (*map(title_of, scoreboard.agents), *map(title_of, scoreboard.trials))
    return tuple(dict.fromkeys(every))


def _line(trial: TrialRow, pages: Mapping[str, str], facts: TrialFacts) -> TrialLine:
    causes = {row.cause for row in count_causes((trial,))}
    return TrialLine(
        trial=trial,
        agent=title_of(trial),
        page=pages.get(trial.trial),
        fields=tuple(
            outcome_field([trial.cells[spec.level]] if spec.level in trial.cells else [])
            for spec in LEVELS
        ),
        failure=_first_failure(trial),
        seconds=_number(trial.seconds, duration(trial.seconds or 0)),
        cost=_cost(trial.usage_bounds("cost_usd")),
        facts=facts,
        family=find_family(facts.domain).key,
        causes=" ".join(sorted(causes)),
    )


def _cost(bounds: tuple[float, float] | None) -> Field:
    if bounds is None:
        return _number(None, "")
    low, high = (f"{bound:.2f}" for bound in bounds)
    return _number(bounds[0], low if low == high else f"{low} to {high}")


def _number(value: float | None, text: str) -> Field:
    return Field(text="", key=UNKNOWN) if value is None else Field(text=text, key=key_of(value))


def _first_failure(trial: TrialRow) -> Failure | None:
    for spec in LEVELS:
        cell = trial.cells.get(spec.level)
        if cell is not None and cell.outcome in (Outcome.FAILED, Outcome.BLOCKED):
            cause = f"{cell.cause.replace('_', ' ')}: " if cell.cause else ""
            reason = f"{cause}{clean(cell.reason, limit=_REASON)}"
            return Failure(level=spec.level, reason=reason)
    return None
