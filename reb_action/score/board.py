"""Build the scoreboard from verdicts and from the reasons for missing verdicts."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping

from reb_action import __version__
from reb_action.model.manifest import Level, Manifest, Outcome, contestant_of
from reb_action.model.scoreboard import Published, Scoreboard, TrialRow
from reb_action.model.verdict import Scoring, Verdict
from reb_action.score.agents import Team, agent_score
from reb_action.score.repositories import Repository, known_of
from reb_action.score.rows import row_of

Key = tuple[str, str]
"""The contestant's id; of trials of older releases the agent, and its model."""


def score(
    found: Mapping[str, Verdict | str],
    *,
    levels: tuple[Level, ...] = tuple(Level),
    manifests: Iterable[Manifest] = (),
    unqualified: Collection[tuple[str, Level]] = frozenset(),
    published: tuple[Published, ...] = (),
) -> Scoreboard:
    """Return the scoreboard over trials, each with its verdict or the reason why it has none.

    `levels` are the requested ones; others are left out. For repositories without a verdict,
    `manifests` define the applicable levels; without either, every level counts. `unqualified`
    names cells by trial id and level.
    """
    verdicts = tuple(seen for seen in found.values() if isinstance(seen, Verdict))
    missing = {name: seen for name, seen in found.items() if isinstance(seen, str)}
    models = _models(verdicts)
    return score_rows(
        (row_of(one, levels, models, unqualified) for one in verdicts),
        missing,
        levels=levels,
        known=known_of(verdicts, manifests),
        versions={one.trial: one.agent_run.version for one in verdicts if one.agent_run},
        published=published,
    )


def score_rows(
    trials: Iterable[TrialRow],
    missing: Mapping[str, str],
    *,
    levels: tuple[Level, ...],
    known: Mapping[str, Repository],
    versions: Mapping[str, str],
    published: tuple[Published, ...] = (),
) -> Scoreboard:
    """Return the scoreboard over rows of trials, and over trials without a verdict.

    `known` has the repositories by slug, `versions` the version of the agent's program by trial.
    """
    rows = tuple(sorted(trials, key=_order))
    teams = _teams(versions, rows, missing)
    return Scoreboard(
        reb=__version__,
        agents=tuple(agent_score(teams[who], levels, known) for who in sorted(teams)),
        trials=rows,
        missing=missing,
        invalid=dict(_invalid(rows)),
        published=published,
    )


def _order(row: TrialRow) -> tuple[str, str, str, str, int]:
    return row.repository, row.agent, row.model or "", row.name, row.attempt


def _models(verdicts: Iterable[Verdict]) -> dict[str, str]:
    """Return the model of each contestant that was only ever seen with one."""
    seen: defaultdict[str, set[str]] = defaultdict(set)
    for one in verdicts:
        if one.agent_run is not None and one.agent_run.model is not None:
            seen[contestant_of(one.trial)].add(one.agent_run.model)
    return {name: min(models) for name, models in seen.items() if len(models) == 1}


def _teams(
    versions: Mapping[str, str],
    rows: Iterable[TrialRow],
    missing: Iterable[str],
) -> dict[Key, Team]:
    """Group trials by contestant, those without a verdict by their ids."""
    teams: dict[Key, Team] = {}
    keys: defaultdict[str, set[Key]] = defaultdict(set)
    for row in rows:
        key = _key(row)
        keys[contestant_of(row.trial)].add(key)
        new = Team(agent=row.agent, model=row.model, contestant=row.contestant)
        team = teams.setdefault(key, new)
        team.rows.append(row)
        team.versions.update({versions[row.trial]} if row.trial in versions else ())
    for trial in missing:
        name = contestant_of(trial)
        if name:
            key = min(keys[name]) if len(keys[name]) == 1 else (name, "")
            team = teams.setdefault(key, Team(agent=name, model=None))
            team.absent.append(trial.rsplit(".", 2)[0])
    return teams


def _key(row: TrialRow) -> Key:
    """Return a team's identity: trials of older releases have an agent and a model only."""
    return (row.name, "") if row.contestant is not None else (row.agent, row.model or "")


def _invalid(rows: Iterable[TrialRow]) -> Iterator[tuple[str, str]]:
    for row in rows:
        faults = (
            f"{level}: {cell.reason}"
            for level, cell in row.cells.items()
            if any(cell.by(scoring) is Outcome.INVALID for scoring in Scoring)
        )
        told = "; ".join(faults)
        if told:
            yield row.trial, told
