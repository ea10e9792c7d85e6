"""The heat map: repositories by levels, one for each agent."""

from collections import defaultdict
from collections.abc import Collection, Iterator

from reb_action.levels import LEVELS
from reb_action.model.scoreboard import Scoreboard, TrialRow
from reb_action.render.html.markup import Html, Node, breakable, el, join, spaced
from reb_action.render.html.site.board import order
from reb_action.render.html.site.cell import cell_of
from reb_action.render.html.site.grid import Column, Field, Row, choice, controls, grid, search
from reb_action.render.html.site.names import agent_of, page_of

_COLUMNS = (
    Column(name="repository"),
    *(Column(name=spec.level, title=spec.title, first="descending") for spec in LEVELS),
    Column(name="trials"),
)


def heat(scoreboard: Scoreboard, pages: Collection[str]) -> Html:
    """Return the maps, agent after agent; with a script, the one that is chosen."""
    found = _by_agent(scoreboard.trials)
    names = tuple(dict.fromkeys((*(one for one in order(scoreboard) if one in found), *found)))
    options = (*((name, name) for name in names), ("", "every agent"))
    chosen = controls("Choose what the map shows", choice("Agent", "section", options), _by_text())
    return join(chosen, *(_map(name, found[name], pages) for name in names))


def _by_text() -> Html:
    return search("Repository")


def _map(name: str, rows: dict[str, list[TrialRow]], pages: Collection[str]) -> Html:
    listed = (_row(repository, rows[repository], pages) for repository in sorted(rows))
    table = grid(f"What {name} came to, by repository", _COLUMNS, listed, class_="heat")
    return el("div", el("h3", name), table, data_section=name)


def _row(repository: str, trials: list[TrialRow], pages: Collection[str]) -> Row:
    fields = (
        cell_of([one.cells[spec.level] for one in trials if spec.level in one.cells])
        for spec in LEVELS
    )
    ordered = sorted(trials, key=lambda one: one.attempt)
    attempts = Field(shown=spaced(*_attempts(ordered, pages)), value=float(len(trials)))
    return Row(head=breakable(repository), fields=(*fields, attempts))


def _attempts(trials: list[TrialRow], pages: Collection[str]) -> Iterator[Node]:
    for one in trials:
        number = str(one.attempt)
        label = f"{one.repository}, attempt {number}"
        linked = el("a", number, href=page_of(one.trial), aria_label=f"{number}: {label}")
        yield linked if one.trial in pages else number


def _by_agent(trials: tuple[TrialRow, ...]) -> dict[str, dict[str, list[TrialRow]]]:
    found: dict[str, dict[str, list[TrialRow]]] = defaultdict(lambda: defaultdict(list))
    for one in trials:
        found[agent_of(one)][one.repository].append(one)
    return found
