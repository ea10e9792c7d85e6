"""The heat map of a contestant: repositories by levels."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from reb_action.judge.levels import LEVELS
from reb_action.model.scoreboard import TrialRow
from reb_action.render.html.site.table import LEVEL_COLUMNS, Column, Field, outcome_field

HEAT_COLUMNS: Final = (Column(name="repository"), *LEVEL_COLUMNS, Column(name="trials"))


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """One attempt at a repository; `page` is the address of its page, if it has one."""

    number: int
    page: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class HeatRow:
    """One repository: its levels over all attempts."""

    repository: str
    fields: tuple[Field, ...]
    attempts: tuple[Attempt, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class HeatMap:
    """The repositories of one agent."""

    agent: str
    rows: tuple[HeatRow, ...]


def heat_map(agent: str, trials: Iterable[TrialRow], pages: Mapping[str, str]) -> HeatMap:
    """Return the map of one contestant."""
    repositories: defaultdict[str, list[TrialRow]] = defaultdict(list)
    for trial in trials:
        repositories[trial.repository].append(trial)
    rows = (_row(name, of, pages) for name, of in sorted(repositories.items()))
    return HeatMap(agent=agent, rows=tuple(rows))


def _row(repository: str, trials: list[TrialRow], pages: Mapping[str, str]) -> HeatRow:
    fields = (
        outcome_field([trial.cells[spec.level] for trial in trials if spec.level in trial.cells])
        for spec in LEVELS
    )
    attempts = (
        Attempt(number=trial.attempt, page=pages.get(trial.trial))
        for trial in sorted(trials, key=lambda trial: trial.attempt)
    )
    return HeatRow(repository=repository, fields=tuple(fields), attempts=tuple(attempts))
