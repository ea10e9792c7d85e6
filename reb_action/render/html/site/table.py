"""The cells of the site's tables, as values: text, a smaller line, and the sort key."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from reb_action.judge.levels import LEVELS
from reb_action.model.manifest import Outcome
from reb_action.model.scoreboard import Cell, Imports, Known, Share
from reb_action.model.verdict import Scoring
from reb_action.render import shares
from reb_action.render.outcomes import UNQUALIFIED, mark_outcome
from reb_action.render.why import NOT_ASKED

_RANK: Final = {
    Outcome.PASSED: 4,
    Outcome.FAILED: 3,
    Outcome.BLOCKED: 2,
    Outcome.INVALID: 1,
    Outcome.NOT_APPLICABLE: 0,
}
NOTHING: Final = "\N{EN DASH}"
UNKNOWN: Final = ""
"""The sort key of an unknown number: it comes last in both orders."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Column:
    """A column: its name, the line under it, and the order of the first sort."""

    name: str
    title: str | None = None
    first: str = "ascending"


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """A part of a bar: where it begins and how wide it is, from 0 to 100."""

    x: str
    width: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Bar:
    """A share as a bar: measured, unseen (which may have passed), and the interval below it."""

    sure: Piece | None
    maybe: Piece | None
    interval: Piece


@dataclass(frozen=True, kw_only=True, slots=True)
class Field:
    """A cell: its text, a smaller line, its sort key and its class; `absent` is greyed out."""

    text: str
    small: str | None = None
    key: str | None = None
    class_: str | None = None
    absent: bool = False
    interval: str | None = None
    bar: Bar | None = None


LEVEL_COLUMNS: Final = tuple(
    Column(name=spec.level, title=spec.title, first="descending") for spec in LEVELS
)


def key_of(number: float | None) -> str:
    """Return a number as a sort key."""
    return UNKNOWN if number is None else f"{number:.6g}"


def share_field(share: Share | None) -> Field:
    """Return a share: per cent, counts, interval, and a bar that shows all three."""
    if not shares.is_planned(share):
        return Field(text=shares.NONE, absent=True, key=UNKNOWN)
    return Field(
        text=shares.bracket(share),
        small=shares.counts(share),
        # An unseen trial may have failed, so it is sorted as a failure.
        key=key_of(share.lowest),
        interval=shares.interval(share),
        bar=_bar(share) if share.counted else None,
    )


def imports_field(imports: Imports | None) -> Field:
    """Return how many imports are missing: C0 as the paper counts it, where less is better."""
    if imports is None or not imports.total:
        return Field(text="".join(shares.imports(imports)), absent=True, key=UNKNOWN)
    text, small = shares.imports_share(imports), shares.imports_line(imports)
    key = key_of(shares.ends(imports)[1] / imports.total)
    return Field(text=text, small=small, key=key)


def mean_field(known: Known, judged: int, show: Callable[[float], str]) -> Field:
    """Return the mean over the trials that know a number, and how many these are if not all."""
    text = shares.mean_text(known, show)
    if text is None:
        return Field(text="unknown", absent=True, key=UNKNOWN)
    mean = known.total / known.trials
    small = f"over {known.trials:,} trials" if known.trials != judged else None
    return Field(text=text, small=small, key=key_of(mean))


def outcome_field(cells: Sequence[Cell]) -> Field:
    """Return the outcome of one level, in one attempt or in several."""
    if not cells:
        return Field(text=NOT_ASKED, key=UNKNOWN, class_="missing")
    outcomes = {(cell.outcome, cell.paper, cell.qualified) for cell in cells}
    return _same(*outcomes.pop()) if len(outcomes) == 1 else _several(cells)


def _bar(share: Share) -> Bar:
    low, high = share.interval or (0.0, 0.0)
    lowest, best = share.lowest or 0.0, share.share or 0.0
    return Bar(
        sure=_piece(0.0, lowest) if lowest else None,
        maybe=_piece(lowest, best) if best > lowest else None,
        interval=_piece(low, high),
    )


def _piece(start: float, end: float) -> Piece:
    return Piece(x=f"{start * 100:.1f}", width=f"{(end - start) * 100:.1f}")


@cache
def _same(outcome: Outcome, paper: Outcome, qualified: bool) -> Field:
    text = f"{_word(outcome)}{mark_outcome(outcome, qualified=qualified)}"
    small = None if paper is outcome else f"paper: {_word(paper)}"
    return Field(text=text, small=small, key=key_of(_RANK[outcome]), class_=outcome)


def _several(cells: Sequence[Cell]) -> Field:
    strict, paper = (_passed(cells, scoring) for scoring in Scoring)
    if strict is None:
        return Field(text="invalid", key=key_of(_RANK[Outcome.INVALID]), class_=Outcome.INVALID)
    passed, counted = strict
    small = None if strict == paper or paper is None else f"paper: {paper[0]} of {paper[1]}"
    mark = (
        UNQUALIFIED
        if any(mark_outcome(cell.outcome, qualified=cell.qualified) for cell in cells)
        else ""
    )
    text, key = f"{passed} of {counted}{mark}", key_of(3 + passed / counted)
    return Field(text=text, small=small, key=key, class_=_shade(passed, counted))


def _passed(cells: Sequence[Cell], scoring: Scoring) -> tuple[int, int] | None:
    outcomes = [cell.by(scoring) for cell in cells]
    uncounted = (Outcome.NOT_APPLICABLE, Outcome.INVALID)
    counted = sum(outcome not in uncounted for outcome in outcomes)
    return (outcomes.count(Outcome.PASSED), counted) if counted else None


def _shade(passed: int, counted: int) -> str:
    if passed in (0, counted):
        return Outcome.PASSED if passed else Outcome.FAILED
    return "some"


def _word(outcome: Outcome) -> str:
    """Return an outcome in a word that fits a narrow cell."""
    return "n/a" if outcome is Outcome.NOT_APPLICABLE else outcome
