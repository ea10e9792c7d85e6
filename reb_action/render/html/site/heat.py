"""The heat maps: repositories by levels, one map for each agent."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from reb_action.judge.levels import LEVELS
from reb_action.model.scoreboard import Scoreboard, TrialRow
from reb_action.render.contestants import title_of
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


def heat_maps(scoreboard: Scoreboard, pages: Mapping[str, str]) -> tuple[HeatMap, ...]:
    """Return a map for each agent that has trials, in the order of the leaderboard."""
    trials: dict[str, dict[str, list[TrialRow]]] = defaultdict(lambda: defaultdict(list))
    for trial in scoreboard.trials:
        trials[title_of(trial)][trial.repository].append(trial)
    ordered = (agent for agent in map(title_of, scoreboard.agents) if agent in trials)
    return tuple(
        HeatMap(
            agent=agent,
            rows=tuple(_row(name, rows, pages) for name, rows in sorted(trials[agent].items())),
        )
        for agent in dict.fromkeys((*ordered, *trials))
    )


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
