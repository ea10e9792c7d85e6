"""Compute the score of one contestant over its trials."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import fsum
from typing import Final

from reb_action.model.contestant import Contestant
from reb_action.model.manifest import Level, Outcome
from reb_action.model.scoreboard import AgentScore, Imports, Known, Share, Spent, TrialRow
from reb_action.model.verdict import ClaimKind, Scoring
from reb_action.score.repositories import Repository, slug_of
from reb_action.score.statistics import wilson

_COUNTED: Final = (Outcome.PASSED, Outcome.FAILED, Outcome.BLOCKED)
_UNKNOWN: Final = Repository()


@dataclass(frozen=True, kw_only=True, slots=True)
class Team:
    """A contestant: its trials with a verdict, and the slugs of those without."""

    agent: str
    model: str | None
    contestant: Contestant | None = None
    rows: list[TrialRow] = field(default_factory=list[TrialRow])
    absent: list[str] = field(default_factory=list[str])
    versions: set[str] = field(default_factory=set[str])


def agent_score(
    team: Team, levels: tuple[Level, ...], known: Mapping[str, Repository]
) -> AgentScore:
    """Return the shares and sums of a contestant."""
    absent = [known.get(slug, _UNKNOWN) for slug in team.absent]
    rows = team.rows
    kinds = ClaimKind if Level.C5 in levels else ()
    return AgentScore(
        agent=team.agent,
        model=team.model,
        versions=tuple(sorted(team.versions)),
        planned=len(rows) + len(absent),
        judged=len(rows),
        levels={
            scoring: {level: _share(rows, absent, scoring, level) for level in levels}
            for scoring in Scoring
        },
        imports={scoring: _imports(rows, absent, scoring, known) for scoring in Scoring}
        if Level.C0 in levels
        else {},
        hallucinations={
            kind: sum(row.hallucinations.get(kind, 0) for row in rows) for kind in kinds
        },
        endings=dict(sorted(Counter(row.ending for row in rows if row.ending).items())),
        spent=_spent(rows),
        contestant=team.contestant,
    )


def _share(
    rows: Iterable[TrialRow], absent: Iterable[Repository], scoring: Scoring, level: Level
) -> Share:
    outcomes = Counter(row.cells[level].by(scoring) for row in rows if level in row.cells)
    passed, counted = outcomes[Outcome.PASSED], sum(outcomes[one] for one in _COUNTED)
    missing = sum((scoring, level) not in one.inapplicable for one in absent)
    return Share(
        passed=passed,
        counted=counted,
        unseen=outcomes[Outcome.INVALID] + missing,
        interval=wilson(passed, counted),
    )


def _imports(
    rows: Iterable[TrialRow],
    absent: Iterable[Repository],
    scoring: Scoring,
    known: Mapping[str, Repository],
) -> Imports:
    """Sum C0: the blocked have every import missing; the unseen may have all of them, or none."""
    asked = [row for row in rows if Level.C0 in row.cells]
    seen = [own for row in asked if (own := row.imports[scoring]) is not None]
    blocked: list[int | None] = []
    unseen = [one.imports.get(scoring) for one in absent]
    for row in asked:
        if row.imports[scoring] is None:
            place = known[slug_of(row.repository)]
            is_blocked = row.cells[Level.C0].by(scoring) is Outcome.BLOCKED
            (blocked if is_blocked else unseen).append(place.imports.get(scoring))
    missing = sum(one.missing for one in seen) + _sum(blocked)
    most = missing + _sum(unseen)
    return Imports(
        missing=missing,
        total=sum(one.total for one in seen) + _sum(blocked) + _sum(unseen),
        most=most if most > missing else None,
        unknown=(*blocked, *unseen).count(None),
    )


def _sum(sizes: Iterable[int | None]) -> int:
    return sum(size for size in sizes if size is not None)


def _spent(rows: Iterable[TrialRow]) -> Spent:
    found = tuple(rows)
    return Spent(
        input_tokens=_bounded(found, "input_tokens"),
        output_tokens=_bounded(found, "output_tokens"),
        cost_usd=_bounded(found, "cost_usd"),
        seconds=_known(row.seconds for row in found),
        prefix_bytes=_known(row.prefix_bytes for row in found),
    )


def _bounded(rows: tuple[TrialRow, ...], name: str) -> Known:
    """Return the sum of a number of each trial's usage, with the bounds of uncounted calls."""
    bounds = [bound for row in rows if (bound := row.usage_bounds(name)) is not None]
    low, high = fsum(low for low, _ in bounds), fsum(high for _, high in bounds)
    return Known(total=low, trials=len(bounds), most=high if high > low else None)


def _known(numbers: Iterable[float | None]) -> Known:
    known = [number for number in numbers if number is not None]
    return Known(total=fsum(known), trials=len(known))
