"""What changed since the base, as Markdown: a row for each level, then the names."""

from collections.abc import Iterable, Iterator
from typing import Final

from reb_action.changes import Change, Count, LevelChange, Turn
from reb_action.render.edition import Compared
from reb_action.render.escape import markdown
from reb_action.render.sections import NAME, details, table

_OPEN: Final = {Turn.FIXED: "Fixed", Turn.BROKEN: "Broken"}
_FOLDED: Final = {
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
    yield table(counts(compared.levels))
    for turn, title in _OPEN.items():
        found = tuple(named(compared.levels, turn))
        if found:
            yield f"**{title}** ({len(found)})"
            yield _listed(found, names)
    for turn, title in _FOLDED.items():
        found = tuple(named(compared.levels, turn))
        if found:
            yield details(f"{title} ({len(found)})", _listed(found, names))


def counts(levels: Iterable[LevelChange]) -> Iterator[tuple[str, ...]]:
    """Yield a row for each level: how many agents on repositories went which way."""
    yield ("level", "fixed", "broken", "unchanged", "not compared", "by chance alone")
    for one in levels:
        of = {turn: len(one.of(turn)) for turn in Turn}
        moved = (of[Turn.FIXED], of[Turn.BROKEN], of[Turn.UNCHANGED], of[Turn.NEW] + of[Turn.GONE])
        chance = "-" if one.chance is None else f"{100 * one.chance:.2g} %"
        yield (one.level, *map(str, moved), chance)


def named(levels: Iterable[LevelChange], turn: Turn) -> Iterator[str]:
    """Yield what went one way: level, agent, repository, and attempts passed of counted."""
    for level in levels:
        yield from (f"{level.level} {_told(one)}" for one in level.of(turn))


def _told(one: Change) -> str:
    agent = markdown(one.pair.agent, limit=NAME)
    return f"{agent} on {markdown(one.pair.repository, limit=NAME)}: {_count(one.before)} → {_count(one.now)}"


def _count(count: Count | None) -> str:
    return "nothing" if count is None else f"{count.passed}/{count.counted}"


def _listed(names: tuple[str, ...], most: int) -> str:
    more = [f"and {len(names) - most} more"] if len(names) > most else []
    return "\n".join(f"- {name}" for name in (*names[:most], *more))
