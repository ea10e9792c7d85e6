"""Tables that can be sorted and filtered: with a script, and without one still tables."""

from collections.abc import Iterable
from dataclasses import dataclass

from reb_action.render.html.markup import Html, Node, el, join


@dataclass(frozen=True, kw_only=True, slots=True)
class Column:
    """A column: its name, what is under the name, and what comes first when sorted by it."""

    name: str
    title: str | None = None
    first: str = "ascending"


@dataclass(frozen=True, kw_only=True, slots=True)
class Field:
    """A cell: what it shows, what it is sorted by (empty: always last), its class."""

    shown: Node
    value: float | str | None = None
    class_: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """A row: its head, its cells, and what it can be chosen by."""

    head: Node
    fields: tuple[Field, ...]
    agent: str | None = None
    class_: str | None = None


def grid(caption: str, columns: tuple[Column, ...], rows: Iterable[Row], *, class_: str) -> Html:
    """Return a table that a phone shows as cards; the roles survive the change of display."""
    heads = el("tr", *(_head(column) for column in columns), role="row")
    return el(
        "table",
        el("caption", caption),
        el("thead", heads, role="rowgroup"),
        el("tbody", *(_row(columns, row) for row in rows), role="rowgroup"),
        role="table",
        class_=f"grid {class_}",
    )


def controls(of: str, *parts: Node) -> Html:
    """Return what filters the tables of a section; shown only where its script runs."""
    said = el("p", role="status", class_="shown")
    return el("div", *parts, said, class_="controls", role="group", aria_label=of, hidden="")


def search(label: str) -> Html:
    """Return a field that finds rows by their text."""
    field = el("input", type="search", data_filter="text", autocomplete="off", spellcheck="false")
    return el("label", el("span", label), field)


def choice(label: str, by: str, options: Iterable[tuple[str, str]]) -> Html:
    """Return a choice among pairs of value and name; the first is there at the start."""
    listed = (el("option", name, value=value) for value, name in options)
    return el("label", el("span", label), el("select", *listed, data_filter=by))


def _head(column: Column) -> Html:
    words = join(column.name, el("small", column.title) if column.title else None)
    return el("th", words, scope="col", role="columnheader", data_first=column.first)


def _row(columns: tuple[Column, ...], row: Row) -> Html:
    cells = zip(columns[1:], row.fields, strict=True)
    return el(
        "tr",
        el("th", row.head, scope="row", role="rowheader"),
        *(_cell(column, field) for column, field in cells),
        role="row",
        data_agent=row.agent,
        class_=row.class_,
    )


def _cell(column: Column, field: Field) -> Html:
    value = field.value
    return el(
        "td",
        field.shown,
        role="cell",
        data_label=column.name,
        data_value=f"{value:.6g}" if isinstance(value, float) else value,
        class_=field.class_,
    )
