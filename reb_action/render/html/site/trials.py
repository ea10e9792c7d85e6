"""The table of all trials: what each came to, and the first level that does not hold."""

from collections.abc import Collection, Iterator
from typing import Final

from reb_action.levels import LEVELS
from reb_action.model.manifest import Outcome
from reb_action.model.scoreboard import Scoreboard, TrialRow
from reb_action.render.escape import clean
from reb_action.render.html.markup import Html, Node, breakable, el, join, spaced
from reb_action.render.html.site.board import order
from reb_action.render.html.site.cell import cell_of
from reb_action.render.html.site.grid import Column, Field, Row, choice, controls, grid, search
from reb_action.render.html.site.names import agent_of, page_of
from reb_action.render.quantities import duration

_COLUMNS = (
    Column(name="trial"),
    *(Column(name=spec.level, title=spec.title, first="descending") for spec in LEVELS),
    Column(name="first failure"),
    Column(name="agent's time"),
    Column(name="cost", title="USD"),
)
_REASON: Final = 110


def trials(scoreboard: Scoreboard, pages: Collection[str]) -> Html:
    """Return every trial that has a verdict."""
    agents = tuple(dict.fromkeys((*order(scoreboard), *map(agent_of, scoreboard.trials))))
    levels = (("", "any level"), *((spec.level, f"{spec.level} {spec.title}") for spec in LEVELS))
    outcomes = (("", "any outcome"), *((one, one.replace("_", " ")) for one in Outcome))
    chosen = controls(
        "Filter the trials",
        search("Repository or reason"),
        choice("Agent", "agent", (("", "every agent"), *((name, name) for name in agents))),
        choice("Level", "level", levels),
        choice("Outcome", "outcome", outcomes),
    )
    rows = (_row(one, pages) for one in scoreboard.trials)
    return join(chosen, grid("Every trial with a verdict", _COLUMNS, rows, class_="heat all"))


def _row(one: TrialRow, pages: Collection[str]) -> Row:
    cost = one.usage.cost_usd if one.usage else None
    fields = (
        *(cell_of([one.cells[spec.level]] if spec.level in one.cells else []) for spec in LEVELS),
        Field(shown=_first_wrong(one), class_="why"),
        _number(one.seconds, None if one.seconds is None else duration(one.seconds)),
        _number(cost, None if cost is None else f"{cost:.2f}"),
    )
    return Row(head=_name(one, pages), fields=fields, agent=agent_of(one))


def _number(value: float | None, told: str | None) -> Field:
    return Field(shown=told, value="" if value is None else float(value))


def _name(one: TrialRow, pages: Collection[str]) -> Html:
    page = page_of(one.trial) if one.trial in pages else None
    name = breakable(one.repository)
    named = el("a", name, href=page) if page else el("span", name)
    return join(named, el("small", f"{agent_of(one)}, attempt {one.attempt}"))


def _first_wrong(one: TrialRow) -> Node:
    return next(_wrong(one), None)


def _wrong(one: TrialRow) -> Iterator[Html]:
    for spec in LEVELS:
        found = one.cells.get(spec.level)
        if found is not None and found.outcome in (Outcome.FAILED, Outcome.BLOCKED):
            cause = f"{found.cause.replace('_', ' ')}: " if found.cause else ""
            told = f"{cause}{clean(found.reason, limit=_REASON)}"
            yield el("span", spaced(el("b", spec.level), told))
