"""The rows of the leaderboard: contestants by rank, with cost, time, date and run."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from reb_action.judge.levels import LEVELS
from reb_action.model.manifest import Level
from reb_action.model.scoreboard import AgentScore, Scoreboard, Share
from reb_action.model.verdict import Scoring
from reb_action.render.html.site.facts import BoardFacts, TrialFacts
from reb_action.render.html.site.table import (
    LEVEL_COLUMNS,
    UNKNOWN,
    Column,
    Field,
    mean_field,
    share_field,
)
from reb_action.render.quantities import duration
from reb_action.render.why import NOT_ASKED
from reb_action.score.ranking import Ranked, rank_contestants

COLUMNS: Final = (
    Column(name="contestant"),
    Column(name="passed", title="of all levels", first="descending"),
    *LEVEL_COLUMNS,
    Column(name="cost", title="USD per trial"),
    Column(name="time", title="per trial"),
    Column(name="measured", title="date and run", first="descending"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """A contestant on the leaderboard; `facts` are those of its newest trial."""

    ranked: Ranked
    passed: Field
    levels: tuple[Field, ...]
    cost: Field
    seconds: Field
    facts: TrialFacts
    runs: int


def list_rows(scoreboard: Scoreboard, facts: BoardFacts) -> tuple[Row, ...]:
    """Return a row for each contestant, by rank."""
    trials: defaultdict[str, list[TrialFacts]] = defaultdict(list)
    for trial in scoreboard.trials:
        trials[trial.name].append(facts.of(trial.trial))
    return tuple(
        _make_row(ranked, trials[ranked.score.name])
        for ranked in rank_contestants(scoreboard.agents)
    )


def level_field(score: AgentScore, level: Level, scoring: Scoring = Scoring.STRICT) -> Field:
    """Return the share of a level, or that no trial requested it."""
    levels = score.levels.get(scoring, {})
    if level not in levels:
        return Field(text=NOT_ASKED, absent=True, key=UNKNOWN)
    return share_field(levels[level])


def total_field(total: Share) -> Field:
    """Return the share of all levels that passed."""
    return share_field(replace(total, interval=None))


def _make_row(ranked: Ranked, trials: Iterable[TrialFacts]) -> Row:
    score, known = ranked.score, sorted(trials, key=lambda facts: facts.date)
    return Row(
        ranked=ranked,
        passed=total_field(ranked.passed),
        levels=tuple(level_field(score, spec.level) for spec in LEVELS),
        cost=mean_field(score.spent.cost_usd, score.judged, "{:,.2f}".format),
        seconds=mean_field(score.spent.seconds, score.judged, duration),
        facts=known[-1] if known else TrialFacts(),
        runs=len({facts.run for facts in known if facts.run}),
    )
