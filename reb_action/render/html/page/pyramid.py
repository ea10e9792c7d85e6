"""Draws the pyramid: six strata, each outcome as a word, a pattern and a colour."""

from collections.abc import Collection, Iterator
from typing import Final

from reb_action.levels import spec_of
from reb_action.model.manifest import Level
from reb_action.model.verdict import LevelResult, Verdict
from reb_action.render.html.markup import Html, el, join
from reb_action.render.html.page.view import word
from reb_action.render.lines import doubt

TOP: Final = 30
ROW: Final = 46
_GAP: Final = 4
_CENTRE: Final = 92
_APEX: Final = 18
_SPREAD: Final = 74 / 6
WORDS: Final = 196
PAPER: Final = 312


def pyramid(verdict: Verdict, unqualified: Collection[Level] = ()) -> Html:
    """Return the pyramid of a verdict, C0 at its base, with the same in words for a reader."""
    strata = reversed(verdict.results)
    return el(
        "svg",
        el("title", "The pyramid of this trial", id="pyramid-title"),
        el("desc", " ".join(_sentences(verdict, unqualified)), id="pyramid-text"),
        el("defs", *(_pattern(name) for name in ("failed", "blocked", "invalid"))),
        _head(),
        *(_stratum(number, one, doubt(one, unqualified)) for number, one in enumerate(strata)),
        role="img",
        aria_labelledby="pyramid-title pyramid-text",
        viewBox=f"0 0 420 {TOP + 6 * ROW}",
        class_="pyramid",
    )


def _sentences(verdict: Verdict, unqualified: Collection[Level]) -> Iterator[str]:
    yield "From the base:"
    for one in verdict.results:
        title = spec_of(one.level).title
        told = f"{one.level} {title} {word(one.outcome)}, by the paper {word(one.paper)}"
        yield f"{told}, not qualified." if one.level in unqualified else f"{told}."


def _head() -> Html:
    return join(
        el("text", "strict", x=WORDS, y=16, class_="head"),
        el("text", "paper", x=PAPER, y=16, class_="head"),
    )


def _stratum(number: int, result: LevelResult, mark: str) -> Html:
    top = TOP + number * ROW
    return el(
        "g",
        el("polygon", points=points(number, top)),
        el("text", result.level, x=_CENTRE, y=top + 27, class_="level"),
        el("text", spec_of(result.level).title, x=WORDS, y=top + 16, class_="title"),
        el("text", f"{word(result.outcome)}{mark}", x=WORDS, y=top + 34, class_="word"),
        el("text", f"{word(result.paper)}{mark}", x=PAPER, y=top + 34, class_="word paper"),
        class_=result.outcome,
    )


def points(number: int, top: int, share: float = 1.0) -> str:
    """Return the corners of a stratum, or of as much of it as a share fills from the middle."""
    upper, lower = _APEX + number * _SPREAD, _APEX + (number + 1) * _SPREAD - 1
    bottom = top + ROW - _GAP
    corners = ((-upper, top), (upper, top), (lower, bottom), (-lower, bottom))
    return " ".join(f"{_CENTRE + x * share:.1f},{y}" for x, y in corners)


def _pattern(name: str) -> Html:
    turn = {"failed": 45, "blocked": -45, "invalid": 0}[name]
    return el(
        "pattern",
        el("rect", width=6, height=6, class_="ground"),
        el("line", x1=0, y1=0, x2=0, y2=6, class_=f"stroke {name}"),
        id=f"pattern-{name}",
        width=6,
        height=6,
        patternUnits="userSpaceOnUse",
        patternTransform=f"rotate({turn})",
    )
