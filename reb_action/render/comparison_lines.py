"""A comparison of contestants as plain lines, which fit a terminal of 80 characters."""

from collections.abc import Iterable, Iterator
from typing import Final

from reb_action.model.comparison import (
    Comparisons,
    ContestantComparison,
    Finding,
    LevelComparison,
    Lift,
)
from reb_action.model.quantity import count
from reb_action.render.escape import clean

WORDS: Final = {
    Finding.BETTER: "better",
    Finding.WORSE: "worse",
    Finding.MIXED: "better at some levels and worse at others",
    Finding.NO_DIFFERENCE: "no difference that these trials could show",
    Finding.INCOMPLETE: "no difference shown, and incomplete",
}
HEADS: Final = ("level", "repos", "A", "B", "B - A", "95 %", "up/down", "p", "Holm", "detects")
_NAME: Final = 60
NONE: Final = "-"


def comparison_lines(comparisons: Comparisons) -> Iterator[str]:
    """Yield each comparison: the finding, a row for each level, and what would decide it."""
    for number, one in enumerate(comparisons.comparisons):
        if number:
            yield ""
        yield f"{headline(one)} ({comparisons.scoring} scoring)"
        yield from _align((HEADS, *map(_row, one.levels)))
        yield from map(advise, filter(_is_open, one.levels))
        yield from _lift_lines(one.lifts)
        if one.unseen:
            trials = count(len(one.unseen), "trial")
            yield f"missing or invalid: {trials}, such as {clean(one.unseen[0])}"
    yield LEGEND


LEGEND: Final = (
    "Each repository counts once; attempts are repeats. p: exact permutation test over"
    " repositories (McNemar's with one attempt). Holm: p over all levels. detects: the smallest"
    " difference found with 80 % probability."
)


def headline(one: ContestantComparison) -> str:
    """Return the finding in a line: which contestants, and the level that shows it best."""
    name, other = clean(one.b, limit=_NAME), clean(one.a, limit=_NAME)
    sides = f"{name}, B against A" if name == other else f"{name} (B) against {other} (A)"
    shown = [level for level in one.levels if level.adjusted is not None]
    best = min(shown, key=lambda level: level.adjusted or 0.0, default=None)
    why = (
        "" if best is None else f"; smallest p after Holm: {show_p(best.adjusted)} at {best.level}"
    )
    return f"{sides}: {WORDS[one.finding]}{why}"


def advise(level: LevelComparison) -> str:
    """Return what would decide a level at which the sides differ and nothing is shown."""
    ways: list[str] = []
    if level.repositories_needed is not None:
        ways.append(f"{level.repositories_needed:,} repositories")
    if level.attempts_needed is not None:
        ways.append(f"{level.attempts_needed:,} attempts at each of these {len(level.pairs)}")
    needs = " or ".join(ways) or "more repositories"
    return f"{level.level}: a difference of {_points(level.difference)} points would need {needs}"


def _is_open(level: LevelComparison) -> bool:
    return bool(level.difference) and (level.adjusted is None or level.adjusted > 0.05)


def _row(level: LevelComparison) -> tuple[str, ...]:
    interval = level.interval
    return (
        level.level,
        str(len(level.pairs)),
        f"{level.a:.0%}",
        f"{level.b:.0%}",
        _points(level.difference),
        NONE if interval is None else f"{_points(interval[0])}..{_points(interval[1])}",
        f"{level.higher}/{level.lower}",
        show_p(level.p),
        show_p(level.adjusted),
        NONE if level.detectable is None else f"{level.detectable * 100:.0f}",
    )


def _lift_lines(lifts: Iterable[Lift]) -> Iterator[str]:
    baselines: dict[str, list[Lift]] = {}
    for lift in lifts:
        baselines.setdefault(lift.baseline, []).append(lift)
    for name, of_baseline in baselines.items():
        parts = (
            f"{lift.level} {_points(lift.difference)} (p {show_p(lift.p)})" for lift in of_baseline
        )
        yield f"lift over {clean(name, limit=_NAME)}: {', '.join(parts)}"


def _points(share: float) -> str:
    """Return a difference of shares in percentage points."""
    return f"{share * 100:+.0f}"


def show_p(value: float | None) -> str:
    """Return a p value with two digits."""
    if value is None:
        return NONE
    return f"{value:.2f}" if value >= 0.01 else f"{value:.1g}"


def _align(rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    table = list(rows)
    widths = [max(len(row[column]) for row in table) for column in range(len(HEADS))]
    for row in table:
        cells = (cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
        yield "  ".join((row[0].ljust(widths[0]), *cells))
