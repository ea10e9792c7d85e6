"""What the page of a trial is made from, and the small parts that its sections share."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from reb_action.model.manifest import Level, Outcome
from reb_action.model.verdict import Verdict
from reb_action.qualified import unqualified
from reb_action.render.html.markup import Html, Node, el, spaced
from reb_action.verdict import Evidence

SHOWN: Final = 40
"""How many things of a kind are listed; the rest is counted, and in the evidence."""


@dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """A verdict, the evidence that it rests on, and the end of what the agent printed."""

    verdict: Verdict
    evidence: Evidence
    agent_log: str

    @property
    def unqualified(self) -> frozenset[Level]:
        """The levels whose outcomes are marked."""
        return unqualified(self.evidence.trial.manifest)


def word(outcome: Outcome) -> str:
    """Return an outcome as people read it."""
    return outcome.replace("_", " ")


def facts(*pairs: tuple[str, Node]) -> Html:
    """Return named facts; a fact without a value is left out."""
    told = [pair for pair in pairs if pair[1] is not None]
    return el("dl", *(el("div", el("dt", name), el("dd", value)) for name, value in told))


def table(caption: str, heads: tuple[str, ...], rows: Iterable[tuple[Node, ...]]) -> Html:
    """Return a table that a phone shows as cards; the roles survive the change of display."""
    head = el("tr", *(el("th", name, scope="col", role="columnheader") for name in heads))
    return el(
        "table",
        el("caption", caption),
        el("thead", head, role="rowgroup"),
        el("tbody", *(_row(heads, row) for row in rows), role="rowgroup"),
        role="table",
    )


def named(items: Iterable[str]) -> Html:
    """Return names in a row, each a code of its own, and how many were left out."""
    every = tuple(items)
    more = f"and {len(every) - SHOWN:,} more" if len(every) > SHOWN else None
    return spaced(*(code(name) for name in every[:SHOWN]), more)


def code(text: str) -> Html:
    """Return a name, path or command as it was written."""
    return el("code", text)


def folded(summary: str, *children: Node) -> Html:
    """Return a part that opens on demand."""
    return el("details", el("summary", summary), *children)


def _row(heads: tuple[str, ...], cells: tuple[Node, ...]) -> Html:
    first, *rest = zip(heads, cells, strict=True)
    cell = el("th", first[1], scope="row", role="rowheader")
    return el(
        "tr",
        cell,
        *(el("td", text, role="cell", data_label=name) for name, text in rest),
        role="row",
    )
