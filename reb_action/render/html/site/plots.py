"""The geometry of two pictures: cost against levels passed, and the share of each level."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import ceil, log10
from typing import Final

from reb_action.judge.levels import LEVELS
from reb_action.model.scoreboard import AgentScore
from reb_action.model.verdict import Scoring
from reb_action.render.contestants import title_of
from reb_action.render.html.site.names import contestant_page
from reb_action.render.quantities import percent
from reb_action.score.ranking import Ranked

WIDTH: Final = 400
HEIGHT: Final = 280
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 388, 14, 236
_BAR, _STEP, _HEIGHT = 20, 24, 64
_TICKS: Final = ((1, 5), (2, 4), (2.5, 5), (5, 5), (10, 5))
"""Ends of an axis, times a power of ten, and into how many round parts they divide."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Point:
    """A contestant at its place, with its rank and a sentence."""

    x: str
    y: str
    rank: int
    title: str
    page: str
    has_model: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Tick:
    """A mark of an axis: its place and its text."""

    at: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class CostPlot:
    """Cost against levels passed; `front` joins the contestants that no cheaper one reaches.

    `left_out` are contestants with a model and without a known cost.
    """

    points: tuple[Point, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    front: str
    left_out: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Bar:
    """A level of a contestant: where its bar begins and how high it is, and its share in words."""

    x: int
    y: str
    height: str
    level: str
    text: str
    known: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Drop:
    """The shares of a contestant from C0 to C5."""

    rank: int
    name: str
    page: str
    bars: tuple[Bar, ...]
    words: str


def plot_cost(ranking: Iterable[Ranked]) -> CostPlot | None:
    """Return the picture of cost against levels passed; None if fewer than two have a place."""
    every = tuple(ranking)
    costs = [(ranked, cost) for ranked in every if (cost := _cost(ranked.score)) is not None]
    if len(costs) < 2:
        return None
    top, parts = _round_up(max(cost for _, cost in costs))
    return CostPlot(
        points=tuple(_point(ranked, cost, top) for ranked, cost in costs),
        x_ticks=tuple(
            Tick(at=_across(top * part / parts, top), text=f"{top * part / parts:.3g}")
            for part in range(parts + 1)
        ),
        y_ticks=tuple(Tick(at=_up(part / 4), text=f"{part * 25}") for part in range(5)),
        front=" ".join(_front(costs, top)),
        left_out=tuple(title_of(one.score) for one in every if _cost(one.score) is None),
    )


def list_drops(ranking: Iterable[Ranked]) -> tuple[Drop, ...]:
    """Return the shares of each contestant by level, by rank."""
    return tuple(_drop(ranked) for ranked in ranking)


def _drop(ranked: Ranked) -> Drop:
    bars = tuple(_bars(ranked.score))
    return Drop(
        rank=ranked.rank,
        name=title_of(ranked.score),
        page=contestant_page(ranked.score),
        bars=bars,
        words=", ".join(f"{bar.level} {bar.text}" for bar in bars),
    )


def _bars(score: AgentScore) -> Iterator[Bar]:
    levels = score.levels.get(Scoring.STRICT, {})
    for number, spec in enumerate(LEVELS):
        share = levels[spec.level].lowest if spec.level in levels else None
        height = _HEIGHT * (share or 0.0)
        yield Bar(
            x=number * _STEP,
            y=f"{_HEIGHT - height:.1f}",
            height=f"{height:.1f}",
            level=spec.level,
            text="not measured" if share is None else f"{percent(share)} %",
            known=share is not None,
        )


def _point(ranked: Ranked, cost: float, top: float) -> Point:
    share = ranked.passed.lowest or 0.0
    price = f"{cost:.2f} USD" if ranked.score.model is not None else "no model"
    return Point(
        x=_across(cost, top),
        y=_up(share),
        rank=ranked.rank,
        title=f"{title_of(ranked.score)}: {percent(share)} % of levels, {price} per trial",
        page=contestant_page(ranked.score),
        has_model=ranked.score.model is not None,
    )


def _front(costs: Iterable[tuple[Ranked, float]], top: float) -> Iterator[str]:
    best = -1.0
    for ranked, cost in sorted(costs, key=lambda pair: (pair[1], -(pair[0].passed.lowest or 0))):
        share = ranked.passed.lowest or 0.0
        if share > best:
            best = share
            yield f"{_across(cost, top)},{_up(share)}"


def _cost(score: AgentScore) -> float | None:
    """Return the mean cost of a trial; a contestant without a model costs nothing."""
    if score.model is None:
        return 0.0
    cost = score.spent.cost_usd
    return cost.total / cost.trials if cost.trials else None


def _round_up(number: float) -> tuple[float, int]:
    """Return the next round number and into how many parts to divide it; see _TICKS."""
    if number <= 0:
        return 1.0, 5
    power = 10.0 ** (ceil(log10(number)) - 1)
    return next(
        (step * power, parts) for step, parts in _TICKS if step * power >= number * 0.999999
    )


def _across(cost: float, top: float) -> str:
    return f"{_LEFT + (_RIGHT - _LEFT) * cost / top:.1f}"


def _up(share: float) -> str:
    return f"{_BOTTOM - (_BOTTOM - _TOP) * share:.1f}"
