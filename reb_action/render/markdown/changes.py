"""What changed since the base, as Markdown: a row for each level, then the names."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from reb_action.changes import Change, Count, LevelChange, Turn
from reb_action.render.escape import markdown
from reb_action.render.markdown.run_report import Compared
from reb_action.render.markdown.sections import NAME, details, table

_OPEN: Final = 12
"""So many that are fixed, or broken, are shown without unfolding them."""
_TITLES: Final = {
    Turn.BROKEN: "Broken",
    Turn.FIXED: "Fixed",
    Turn.UNCHANGED: "Unchanged",
    Turn.NEW: "Nothing to compare with",
    Turn.GONE: "Nothing that counts now",
}


def blocks(compared: Compared | None, *, names: int) -> Iterator[str]:
    """Yield the change since the base; at most so many names of a kind."""
    if compared is None:
        yield "There is no scoreboard of the default branch to compare with."
        return
    yield f"### Change since {markdown(compared.commit[:12])}"
    counted = tuple(one for one in compared.levels if one.turns)
    yield table(counts(counted)) if counted else "No level counts, neither then nor now."
    for turn, title in _TITLES.items():
        if count := _number(compared.levels, turn):
            body = _listed(compared.levels, turn, count, names)
            if turn in (Turn.FIXED, Turn.BROKEN) and count <= _OPEN:
                yield f"**{title} ({count})**\n\n{body}"
            else:
                yield details(f"{title} ({count})", body)


def counts(levels: Iterable[LevelChange]) -> Iterator[tuple[str, ...]]:
    """Yield a row for each level: how many agents on repositories went which way."""
    yield ("level", "fixed", "broken", "unchanged", "not compared", "by chance alone")
    for one in levels:
        of = {turn: len(one.of(turn)) for turn in Turn}
        moved = (of[Turn.FIXED], of[Turn.BROKEN], of[Turn.UNCHANGED], of[Turn.NEW] + of[Turn.GONE])
        yield (one.level, *map(str, moved), _chance(one.chance))


def _number(levels: Iterable[LevelChange], turn: Turn) -> int:
    return sum(len(level.of(turn)) for level in levels)


def _listed(levels: Iterable[LevelChange], turn: Turn, count: int, most: int) -> str:
    """Return what went one way: level, agent, repository, and attempts passed of counted."""
    every = ((level.level, one) for level in levels for one in level.of(turn))
    lines = [f"- {level} {_told(one)}" for level, one in islice(every, most)]
    return "\n".join((*lines, *([f"- and {count - most} more"] if count > most else [])))


def _told(one: Change) -> str:
    agent = markdown(one.pair.agent, limit=NAME)
    repository = markdown(one.pair.repository, limit=NAME)
    return f"{agent} on {repository}: {_count(one.before)} → {_count(one.now)}"


def _chance(chance: float | None) -> str:
    if chance is None:
        return "-"
    return f"{chance:.0%}" if chance >= 0.1 else f"{chance:.1%}"


def _count(count: Count | None) -> str:
    return "nothing" if count is None else f"{count.passed} of {count.counted}"
