"""Draws what an agent comes to as a pyramid: each stratum is as full as its share."""

from collections.abc import Iterator

from reb_action.levels import LEVELS, LevelSpec
from reb_action.model.scoreboard import AgentScore, Share
from reb_action.model.verdict import Scoring
from reb_action.render.html.markup import Html, el, join
from reb_action.render.html.page.pyramid import PAPER, ROW, TOP, WORDS, points
from reb_action.render.shares import bracket, planned


def pyramid(score: AgentScore, *, name: str) -> Html:
    """Return the pyramid of an agent, C0 at its base; `name` begins the ids that it needs."""
    strict, paper = (score.levels.get(one, {}) for one in (Scoring.STRICT, Scoring.PAPER))
    strata = (
        _stratum(number, spec, strict.get(spec.level), paper.get(spec.level))
        for number, spec in enumerate(reversed(LEVELS))
    )
    return el(
        "svg",
        el("title", f"The pyramid of {score.agent}", id=f"{name}-title"),
        el("desc", " ".join(_sentences(score)), id=f"{name}-text"),
        el("text", "strict", x=WORDS, y=16, class_="head"),
        el("text", "paper", x=PAPER, y=16, class_="head"),
        *strata,
        role="img",
        aria_labelledby=f"{name}-title {name}-text",
        viewBox=f"0 0 380 {TOP + 6 * ROW}",
        class_="pyramid filled",
    )


def _sentences(score: AgentScore) -> Iterator[str]:
    yield "From the base:"
    for spec in LEVELS:
        told = (
            f"{scoring} {bracket(share)}"
            for scoring in Scoring
            if (share := score.levels.get(scoring, {}).get(spec.level)) is not None
        )
        yield f"{spec.level} {spec.title}: {', '.join(told) or 'not measured'}."


def _stratum(number: int, spec: LevelSpec, strict: Share | None, paper: Share | None) -> Html:
    top = TOP + number * ROW
    track = "track" if planned(strict) else "track none"
    return el(
        "g",
        el("polygon", points=points(number, top), class_=track),
        _filled(number, top, strict),
        el("text", f"{spec.level} {spec.title}", x=WORDS, y=top + 16, class_="title"),
        _told(strict, WORDS, top, "word"),
        _told(paper, PAPER, top, "word paper"),
    )


def _filled(number: int, top: int, share: Share | None) -> Html:
    if share is None or not share.counted:
        return join()
    sure, maybe = share.lowest or 0.0, share.share or 0.0
    return join(
        el("polygon", points=points(number, top, maybe), class_="maybe") if maybe > sure else None,
        el("polygon", points=points(number, top, sure), class_="sure") if sure else None,
    )


def _told(share: Share | None, x: int, top: int, class_: str) -> Html:
    shown = class_ if planned(share) else f"{class_} none"
    return el("text", bracket(share), x=x, y=top + 34, class_=shown)
