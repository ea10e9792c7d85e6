"""One level of a trial, or of a repository over its attempts, as a cell with a word in it."""

from collections.abc import Sequence
from functools import cache

from reb_action.model.manifest import Outcome
from reb_action.model.scoreboard import Cell
from reb_action.model.verdict import Scoring
from reb_action.render.html.markup import el, join
from reb_action.render.html.site.grid import Field
from reb_action.render.outcomes import DOUBT, doubt

_RANK = {
    Outcome.PASSED: 4.0,
    Outcome.FAILED: 3.0,
    Outcome.BLOCKED: 2.0,
    Outcome.INVALID: 1.0,
    Outcome.NOT_APPLICABLE: 0.0,
}


def cell_of(cells: Sequence[Cell]) -> Field:
    """Return what one level came to, in one attempt or in several."""
    if not cells:
        return Field(shown=el("span", "missing"), value="", class_="missing")
    if len({(cell.outcome, cell.paper, cell.qualified) for cell in cells}) == 1:
        return _same(cells[0].outcome, cells[0].paper, cells[0].qualified)
    return _several(cells)


def word(outcome: Outcome) -> str:
    """Return an outcome in a word that fits a narrow cell."""
    return "n/a" if outcome is Outcome.NOT_APPLICABLE else outcome


@cache
def _same(outcome: Outcome, paper: Outcome, qualified: bool) -> Field:
    differs = el("small", f"paper: {word(paper)}") if paper is not outcome else None
    shown = join(el("span", f"{word(outcome)}{doubt(outcome, qualified=qualified)}"), differs)
    return Field(shown=shown, value=_RANK[outcome], class_=outcome)


def _several(cells: Sequence[Cell]) -> Field:
    one, other = (_passed(cells, scoring) for scoring in Scoring)
    if one is None:
        return Field(shown=el("span", "invalid"), value=_RANK[Outcome.INVALID], class_="invalid")
    passed, counted = one
    differs = None if one == other or other is None else f"paper: {other[0]} of {other[1]}"
    mark = DOUBT if any(doubt(one.outcome, qualified=one.qualified) for one in cells) else ""
    shown = join(
        el("span", f"{passed} of {counted}{mark}"), el("small", differs) if differs else None
    )
    return Field(shown=shown, value=3 + passed / counted, class_=_shade(passed, counted))


def _passed(cells: Sequence[Cell], scoring: Scoring) -> tuple[int, int] | None:
    outcomes = [cell.by(scoring) for cell in cells]
    counted = sum(one not in (Outcome.NOT_APPLICABLE, Outcome.INVALID) for one in outcomes)
    return (outcomes.count(Outcome.PASSED), counted) if counted else None


def _shade(passed: int, counted: int) -> str:
    if passed in (0, counted):
        return Outcome.PASSED if passed else Outcome.FAILED
    return "some"
