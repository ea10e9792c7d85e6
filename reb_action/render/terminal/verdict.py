"""A verdict as tables for a terminal: words first, colours second."""

from collections.abc import Collection, Iterator
from typing import Final

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from reb_action.judge.levels import spec_of
from reb_action.model.manifest import Level, Outcome
from reb_action.model.verdict import Claim, LevelResult, Scoring, Standing, Verdict
from reb_action.render.escape import log
from reb_action.render.lines import (
    count_levels,
    level_reason,
    mark_level,
    mark_lines,
    quote_agent,
    remark_lines,
    standing_word,
    summarise_findings,
    why_lines,
)
from reb_action.render.why import outcome_word

_STYLES: Final = {
    Outcome.PASSED: "green",
    Outcome.FAILED: "bold red",
    Outcome.BLOCKED: "bold yellow",
    Outcome.NOT_APPLICABLE: "dim",
    Outcome.INVALID: "bold magenta",
}
_STANDING_STYLES: Final = {
    Standing.SUPPORTED: "green",
    Standing.REFUTED: "bold red",
    Standing.UNVERIFIABLE: "dim",
    Standing.NOT_MADE: "dim",
}


def verdict_tables(verdict: Verdict, unqualified: Collection[Level] = ()) -> RenderableType:
    """Return the headline, the levels, the claims and the remarks."""
    title = Text.assemble(
        (log(verdict.trial), "bold"), "  ", count_levels(verdict), overflow="fold"
    )
    notes = (Text(line, style="dim") for line in mark_lines(verdict, unqualified))
    remarks = (Text(line) for line in remark_lines(verdict))
    levels = _levels(verdict, unqualified)
    return Group(title, levels, *notes, *_causes(verdict), *_claims(verdict), *remarks)


def short_table(verdict: Verdict, notes: str | None) -> RenderableType:
    """Return what the agent said above what the probes found."""
    said, found = quote_agent(verdict, notes), summarise_findings(verdict)
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_row(Text(f"{log(verdict.agent)} said", style="dim"), Text(said))
    table.add_row(Text("found", style="dim", justify="right"), Text(found, style="bold"))
    return table


def _levels(verdict: Verdict, unqualified: Collection[Level]) -> Table:
    table = _table(("level", True), ("strict", True), ("paper", True), ("reason", False))
    for result in verdict.results:
        name = f"{result.level} {spec_of(result.level).title}"
        quiet = result.unasked or result.outcome is Outcome.NOT_APPLICABLE
        reason = Text(level_reason(result), style="dim" if quiet else "")
        mark = mark_level(result, unqualified)
        strict, paper = (_outcome(result, scoring, mark) for scoring in Scoring)
        table.add_row(Text(name), strict, paper, reason)
    return table


def _causes(verdict: Verdict) -> Iterator[RenderableType]:
    for result in verdict.results:
        for line in why_lines(result):
            yield Padding(Text(f"{result.level} {line.strip()}"), (0, 0, 0, 1))


def _claims(verdict: Verdict) -> Iterator[Table]:
    if verdict.audit.claims:
        table = _table(("claim", True), ("reported", False), ("observed", False), ("result", True))
        for claim in verdict.audit.claims:
            table.add_row(*_claim(claim))
        yield table


def _claim(claim: Claim) -> Iterator[Text]:
    yield Text(claim.field)
    yield Text(log(claim.claimed or "-"), overflow="fold")
    yield Text(log(claim.observed or "-"), overflow="fold")
    style = "bold yellow" if claim.under_claim else _STANDING_STYLES[claim.standing]
    counted = claim.hallucinations and claim.standing is not Standing.REFUTED
    word = standing_word(claim)
    yield Text(f"{word}, counted by the paper" if counted else word, style=style)


def _outcome(result: LevelResult, scoring: Scoring, mark: str) -> Text:
    style = "dim" if result.unasked else _STYLES[result.by(scoring)]
    return Text(f"{outcome_word(result, scoring)}{mark}", style=style)


def _table(*columns: tuple[str, bool]) -> Table:
    """Return a table with columns, each with whether its cells keep their lines."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name, whole in columns:
        table.add_column(name, no_wrap=whole, overflow="fold")
    return table
