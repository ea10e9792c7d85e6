"""Each agent as a pyramid, and the mean resources of its trials."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from reb_action.judge.levels import LEVELS, LevelSpec
from reb_action.model.agent import Ending
from reb_action.model.scoreboard import AgentScore, Share
from reb_action.model.verdict import Scoring
from reb_action.render import shares
from reb_action.render.html import pyramid
from reb_action.render.html.site.table import Column, Field, mean_field
from reb_action.render.quantities import duration, size

SPENT_COLUMNS: Final = (
    Column(name="agent"),
    Column(name="tokens in", title="per trial"),
    Column(name="tokens out", title="per trial"),
    Column(name="cost", title="USD per trial"),
    Column(name="time", title="per trial"),
    Column(name="environment", title="on disk"),
    Column(name="ended"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Stratum:
    """A level of an agent: its outline, the parts that its share fills, and both shares."""

    spec: LevelSpec
    top: int
    outline: str
    maybe: str | None
    sure: str | None
    strict: str
    paper: str
    has_strict: bool
    has_paper: bool


def strata(score: AgentScore) -> tuple[Stratum, ...]:
    """Return the strata of an agent's pyramid, from the apex down."""
    strict, paper = (score.levels.get(scoring, {}) for scoring in (Scoring.STRICT, Scoring.PAPER))
    return tuple(
        _stratum(number, spec, strict.get(spec.level), paper.get(spec.level))
        for number, spec in enumerate(reversed(LEVELS))
    )


def describe(score: AgentScore) -> str:
    """Return an agent's pyramid in words."""
    return " ".join(("From the base:", *_sentences(score)))


def spent_fields(score: AgentScore) -> tuple[Field, ...]:
    """Return what an agent's trials took, on average over those that know it, and their ends."""
    spent, judged = score.spent, score.judged
    return (
        mean_field(spent.input_tokens, judged, "{:,.0f}".format),
        mean_field(spent.output_tokens, judged, "{:,.0f}".format),
        mean_field(spent.cost_usd, judged, "{:,.2f}".format),
        mean_field(spent.seconds, judged, duration),
        mean_field(spent.prefix_bytes, judged, size),
        Field(text=", ".join(_endings(score))),
    )


def _stratum(number: int, spec: LevelSpec, strict: Share | None, paper: Share | None) -> Stratum:
    counted = strict is not None and strict.counted > 0
    sure = (strict.lowest or 0.0) if strict and counted else 0.0
    maybe = (strict.share or 0.0) if strict and counted else 0.0
    return Stratum(
        spec=spec,
        top=pyramid.top(number),
        outline=pyramid.corners(number),
        maybe=pyramid.corners(number, maybe) if maybe > sure else None,
        sure=pyramid.corners(number, sure) if sure else None,
        strict=shares.bracket(strict),
        paper=shares.bracket(paper),
        has_strict=shares.is_planned(strict),
        has_paper=shares.is_planned(paper),
    )


def _sentences(score: AgentScore) -> Iterator[str]:
    for spec in LEVELS:
        measured = (
            f"{scoring} {shares.bracket(share)}"
            for scoring in Scoring
            if (share := score.levels.get(scoring, {}).get(spec.level)) is not None
        )
        yield f"{spec.level} {spec.title}: {', '.join(measured) or 'not measured'}."


def _endings(score: AgentScore) -> Iterator[str]:
    for ending in Ending:
        if score.endings.get(ending):
            yield f"{score.endings[ending]:,} {ending.replace('_', ' ')}"
