"""A verdict as tables for a terminal: words first, colour besides, as wide as the terminal is."""

from collections.abc import Collection, Iterator
from typing import Final

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from reb_action.levels import spec_of
from reb_action.model.manifest import Level, Outcome
from reb_action.model.verdict import Claim, Standing, Verdict
from reb_action.render.escape import log
from reb_action.render.lines import (
    cause_lines,
    doubt,
    doubt_lines,
    found,
    headline,
    level_reason,
    remark_lines,
    said,
    standing,
)
from reb_action.render.outcomes import MARKS

_STYLES: Final = {
    Outcome.PASSED: "green",
    Outcome.FAILED: "bold red",
    Outcome.BLOCKED: "bold yellow",
    Outcome.NOT_APPLICABLE: "dim",
    Outcome.INVALID: "bold magenta",
}
_STANDINGS: Final = {
    Standing.SUPPORTED: "green",
    Standing.REFUTED: "bold red",
    Standing.UNVERIFIABLE: "dim",
    Standing.NOT_MADE: "dim",
}


def verdict_tables(verdict: Verdict, unqualified: Collection[Level] = ()) -> RenderableType:
    """Return the headline, the levels, the claims, and what else was noteworthy."""
    remarks = (Text(line) for line in remark_lines(verdict))
    doubts = (Text(line, style="dim") for line in doubt_lines(verdict, unqualified))
    parts = (_levels(verdict, unqualified), *doubts, *_causes(verdict), *_claims(verdict), *remarks)
    return Group(*_title(verdict), *parts)


def short_table(verdict: Verdict, notes: str | None) -> RenderableType:
    """Return what the agent said above what was found."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_row(Text(f"{log(verdict.agent)} said", style="dim"), Text(said(verdict, notes)))
    table.add_row(Text("found", style="dim", justify="right"), Text(found(verdict), style="bold"))
    return table


def _title(verdict: Verdict) -> Iterator[Text]:
    yield Text.assemble((log(verdict.trial), "bold"), "  ", headline(verdict), overflow="fold")


def _levels(verdict: Verdict, unqualified: Collection[Level]) -> Table:
    table = _table(("level", True), ("strict", True), ("paper", True), ("why", False))
    for result in verdict.results:
        name = f"{result.level} {spec_of(result.level).title}"
        dim = "dim" if result.outcome is Outcome.NOT_APPLICABLE else ""
        why = Text(level_reason(result), style=dim)
        mark = doubt(result, unqualified)
        table.add_row(Text(name), _mark(result.outcome, mark), _mark(result.paper, mark), why)
    return table


def _causes(verdict: Verdict) -> Iterator[RenderableType]:
    for result in verdict.results:
        for line in cause_lines(result):
            yield Padding(Text(f"{result.level} {line.strip()}"), (0, 0, 0, 1))


def _claims(verdict: Verdict) -> Iterator[Table]:
    if verdict.audit.claims:
        heads = (("claim", True), ("the report says", False), ("observed", False))
        table = _table(*heads, ("standing", True))
        for claim in verdict.audit.claims:
            table.add_row(*_claim(claim))
        yield table


def _claim(claim: Claim) -> Iterator[Text]:
    yield Text(claim.field)
    yield Text(log(claim.claimed or "-"), overflow="fold")
    yield Text(log(claim.observed or "-"), overflow="fold")
    style = "bold yellow" if claim.under_claim else _STANDINGS[claim.standing]
    yield Text(standing(claim), style=style)


def _mark(outcome: Outcome, follows: str) -> Text:
    return Text(f"{MARKS[outcome]}{follows}", style=_STYLES[outcome])


def _table(*columns: tuple[str, bool]) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name, whole in columns:
        table.add_column(name, no_wrap=whole, overflow="fold")
    return table
