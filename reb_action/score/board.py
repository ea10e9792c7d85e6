"""Build the scoreboard from verdicts and from the reasons for missing verdicts."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping

from reb_action import __version__
from reb_action.model.manifest import Level, Manifest, Outcome
from reb_action.model.scoreboard import Published, Scoreboard, TrialRow
from reb_action.model.verdict import Scoring, Verdict
from reb_action.score.agents import Team, agent_score
from reb_action.score.repositories import known_of
from reb_action.score.rows import row_of


def score(
    found: Mapping[str, Verdict | str],
    *,
    levels: tuple[Level, ...] = tuple(Level),
    manifests: Iterable[Manifest] = (),
    unqualified: Collection[tuple[str, Level]] = frozenset(),
    published: tuple[Published, ...] = (),
) -> Scoreboard:
    """Return the scoreboard over trials, each with its verdict or why it has none.

    `levels` are those that were asked for; others are left out. `manifests` say what applies to
    repositories of which no trial has a verdict; without either, every level counts.
    `unqualified` names cells by trial id and level.
    """
    verdicts = tuple(seen for seen in found.values() if isinstance(seen, Verdict))
    missing = {name: seen for name, seen in found.items() if isinstance(seen, str)}
    models = _models(verdicts)
    rows = tuple(sorted((row_of(one, levels, models, unqualified) for one in verdicts), key=_order))
    known = known_of(verdicts, manifests)
    teams = _teams(verdicts, rows, missing, models)
    return Scoreboard(
        reb=__version__,
        agents=tuple(agent_score(teams[who], levels, known) for who in sorted(teams)),
        trials=rows,
        missing=missing,
        invalid=dict(_invalid(rows)),
        published=published,
    )


def _order(row: TrialRow) -> tuple[str, str, str, int]:
    return row.repository, row.agent, row.model or "", row.attempt


def _models(verdicts: Iterable[Verdict]) -> dict[str, str]:
    """Return the model of each agent that was only ever seen with one."""
    seen: defaultdict[str, set[str]] = defaultdict(set)
    for one in verdicts:
        if one.agent_run is not None and one.agent_run.model is not None:
            seen[one.agent].add(one.agent_run.model)
    return {agent: min(models) for agent, models in seen.items() if len(models) == 1}


def _teams(
    verdicts: Iterable[Verdict],
    rows: Iterable[TrialRow],
    missing: Iterable[str],
    models: Mapping[str, str],
) -> dict[tuple[str, str], Team]:
    """Group trials by agent and model, those without a verdict by what their ids say."""
    teams: dict[tuple[str, str], Team] = {}
    versions = {one.trial: one.agent_run.version for one in verdicts if one.agent_run}
    for row in rows:
        team = teams.setdefault(
            (row.agent, row.model or ""), Team(agent=row.agent, model=row.model)
        )
        team.rows.append(row)
        team.versions.update({versions[row.trial]} if row.trial in versions else ())
    for name in missing:
        # <slug>.<agent>.<attempt>; a slug may hold dots, the others cannot.
        parts = name.rsplit(".", 2)
        if len(parts) == 3:
            slug, agent, _ = parts
            model = models.get(agent)
            team = teams.setdefault((agent, model or ""), Team(agent=agent, model=model))
            team.absent.append(slug)
    return teams


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
