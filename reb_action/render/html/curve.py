"""The geometry of the picture of a training run: its losses, and those with another seed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from reb_action.model.observation import Curve

WIDTH: Final = 400
HEIGHT: Final = 160
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 392, 12, 132
_MOST: Final = 200
"""Points of a line; of a longer curve every so many are drawn."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CurvePlot:
    """Lines as the points of an SVG polyline; `low` and `high` are the ends of the axis."""

    losses: str
    reseeded: str
    low: str
    high: str
    steps: int
    words: str


def plot_curve(curve: Curve) -> CurvePlot | None:
    """Return the picture of a curve; None if it has fewer than two losses."""
    every = (*curve.losses, *curve.reseeded)
    if len(curve.losses) < 2:
        return None
    low, high, steps = min(0.0, *every), max(every), len(curve.losses)
    rate = "" if curve.per_second is None else f", {curve.per_second:g} steps per second"
    first, last = curve.losses[0], curve.losses[-1]
    return CurvePlot(
        losses=_draw(curve.losses, low, high),
        reseeded=_draw(curve.reseeded, low, high),
        low=f"{low:.3g}",
        high=f"{high:.3g}",
        steps=steps,
        words=f"The loss goes from {first:.4g} to {last:.4g} in {steps} steps{rate}.",
    )


def _draw(losses: Sequence[float], low: float, high: float) -> str:
    """Return losses as points, from left to right."""
    last, height = max(1, len(losses) - 1), (high - low) or 1.0
    stride = -(-len(losses) // _MOST) or 1
    return " ".join(
        f"{_LEFT + (_RIGHT - _LEFT) * step / last:.1f},"
        f"{_BOTTOM - (_BOTTOM - _TOP) * (losses[step] - low) / height:.1f}"
        for step in range(0, len(losses), stride)
    )
