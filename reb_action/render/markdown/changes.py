"""The changes since the base, as Markdown: a row for each level, then the names."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from reb_action.render.escape import markdown
from reb_action.render.markdown.run_report import Comparison
from reb_action.render.markdown.sections import NAME, details, table
from reb_action.score.changes import Change, Count, LevelChange, Turn

_OPEN: Final = 12
"""Up to this many fixed or broken pairs are shown without unfolding."""
_TITLES: Final = {
    Turn.BROKEN: "Broken",
    Turn.FIXED: "Fixed",
    Turn.UNCHANGED: "Unchanged",
    Turn.NEW: "New (no earlier result)",
    Turn.GONE: "Gone (no result now)",
}


def change_blocks(comparison: Comparison | None, *, names: int) -> Iterator[str]:
    """Yield the changes since the base; at most so many names of a kind."""
    if comparison is None:
        yield "There is no scoreboard of the default branch to compare with."
        return
    yield f"### Change since {markdown(comparison.commit[:12])}"
    levels = tuple(level for level in comparison.levels if level.turns)
    yield table(change_rows(levels)) if levels else "No level has a result to compare."
    for turn, title in _TITLES.items():
        if count := sum(len(level.of(turn)) for level in comparison.levels):
            body = _list(comparison.levels, turn, count, names)
            if turn in (Turn.FIXED, Turn.BROKEN) and count <= _OPEN:
                yield f"**{title} ({count})**\n\n{body}"
            else:
                yield details(f"{title} ({count})", body)


def change_rows(levels: Iterable[LevelChange]) -> Iterator[tuple[str, ...]]:
    """Yield a row for each level: how many pairs of agent and repository changed, and how."""
    yield ("level", "fixed", "broken", "unchanged", "not compared", "by chance alone")
    for level in levels:
        counts = {turn: len(level.of(turn)) for turn in Turn}
        uncompared = counts[Turn.NEW] + counts[Turn.GONE]
        changes = (counts[Turn.FIXED], counts[Turn.BROKEN], counts[Turn.UNCHANGED], uncompared)
        yield (level.level, *map(str, changes), _chance(level.chance))


def _list(levels: Iterable[LevelChange], turn: Turn, count: int, most: int) -> str:
    """Return the changes of a kind: level, agent, repository, and attempts passed of counted."""
    changes = ((level.level, change) for level in levels for change in level.of(turn))
    lines = [f"- {level} {_change(change)}" for level, change in islice(changes, most)]
    return "\n".join((*lines, *([f"- and {count - most} more"] if count > most else [])))


def _change(change: Change) -> str:
    contestant = markdown(change.pair.contestant, limit=NAME)
    repository = markdown(change.pair.repository, limit=NAME)
    return f"{contestant} on {repository}: {_count(change.before)} → {_count(change.now)}"


def _chance(chance: float | None) -> str:
    if chance is None:
        return "-"
    return f"{chance:.0%}" if chance >= 0.1 else f"{chance:.1%}"


def _count(count: Count | None) -> str:
    return "no result" if count is None else f"{count.passed} of {count.counted}"
