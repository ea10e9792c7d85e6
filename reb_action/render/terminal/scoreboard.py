"""A scoreboard as tables that fit the terminal; a log gets the same without bars and colours."""

from collections.abc import Iterable, Iterator
from typing import Final

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from reb_action.model.manifest import Level
from reb_action.model.scoreboard import Cell, Imports, Scoreboard
from reb_action.model.verdict import Scoring
from reb_action.render import shares
from reb_action.render.escape import log
from reb_action.render.outcomes import UNQUALIFIED_NOTE, WORDS, mark_outcome
from reb_action.render.tables import (
    Lines,
    Table,
    cell_text,
    headline,
    measured_levels,
    resources,
    run_again,
)
from reb_action.render.terminal.standings import (
    LEGEND,
    label_lines,
    list_standings,
    name_lines,
    published_lines,
    share_lines,
)
from reb_action.render.why import NOT_ASKED

_NAME: Final = 22
"""Columns of a contestant's name where the terminal is narrow."""
_BARS: Final = 7, 20
"""The shortest and the longest bar."""
_SPENT: Final = (
    *("contestant", "tokens\nin", "tokens\nout", "cost", "time", "environment\non disk", "ended"),
)
_TRIALS: Final = 100
"""Above this, a row for each trial hides the results of the contestants."""
_PAPER_NOTE: Final = "(…): the outcome by the paper's scoring, where it differs."


def board_tables(board: Scoreboard, *, width: int, drawn: bool) -> RenderableType:
    """Return both scorings, the resources, the trials if they are few, and the trials to run again.

    `width` is the terminal's, in columns. Without `drawn` there are no bars and no rules, for logs
    and screen readers.
    """
    bar = _choose_bar(width, len(measured_levels(board))) if drawn else 0
    parts = (
        *(_standings(board, scoring, bar=bar) for scoring in Scoring),
        _counts(board, drawn=drawn),
        _resources(board, drawn=drawn),
        *((_trials(board, drawn=drawn),) if len(board.trials) <= _TRIALS else ()),
        *((_plain(run_again(board), drawn=drawn),) if board.run_again else ()),
    )
    legend = Text(f"{LEGEND}\n", style="dim")
    gap = () if drawn else (Text(),)
    tables = (piece for part in parts for piece in (*part, *gap))
    return Group(*tables, legend, Text(headline(board), style="bold"))


def _choose_bar(width: int, levels: int) -> int:
    shortest, longest = _BARS
    return min(longest, max(shortest, (width - _NAME - 10) // max(1, levels) - 1))


def _standings(board: Scoreboard, scoring: Scoring, *, bar: int) -> Iterator[RenderableType]:
    levels = measured_levels(board)
    grid = _grid(("contestant", "", *levels), drawn=bar > 0)
    for standing in list_standings(board, scoring, levels):
        cells = (_stack(share_lines(share, bar)) for share in standing.shares)
        grid.add_row(_lines(standing.name), _lines(label_lines(bar)), *cells)
        grid.add_row()
    yield Text(f"{scoring.capitalize()} scoring", style="bold")
    yield grid
    if scoring is Scoring.PAPER and board.published:
        row = board.published[0]
        runs = "one run each" if row.runs == 1 else f"{row.runs} runs each"
        yield _note(f"published: {log(row.source)}; its own trials, {runs}.")


def _counts(board: Scoreboard, *, drawn: bool) -> Iterator[RenderableType]:
    """Yield the imports that are missing and the hallucinations of each contestant."""
    if Level.C0 not in measured_levels(board) and Level.C5 not in measured_levels(board):
        return
    heads = ("contestant", "imports missing,\nstrict", "imports missing,\npaper", "hallucinations")
    grid = _grid(heads, drawn=drawn)
    for score in board.agents:
        counts = (_imports(score.imports.get(scoring)) for scoring in Scoring)
        grid.add_row(_lines(name_lines(score)), *counts, _lines(shares.hallucinations(score)))
    for row in board.published:
        false = _lines(shares.published_hallucinations(row))
        grid.add_row(_lines(published_lines(row)), "", _imports(row.imports), false)
    yield Text("Imports and claims", style="bold")
    yield grid


def _imports(imports: Imports | None) -> Text:
    if imports is None or not imports.total:
        return _lines(shares.imports(imports))
    number, of, share, *unknown = shares.imports(imports)
    return _lines((share, f"{number} {of}", *unknown))


def _resources(board: Scoreboard, *, drawn: bool) -> Iterator[RenderableType]:
    """Yield the means of each contestant, and how many trials know a number if not all do."""
    table = resources(board)
    grid = _grid(_SPENT, drawn=drawn)
    for score, (name, *means, ended) in zip(board.agents, table.rows, strict=True):
        every = f"({score.planned} of {score.planned})"
        cells = (
            _lines(part.strip("()").replace(" of ", "/") for part in _text(mean) if part != every)
            for mean in means
        )
        grid.add_row(_lines(_text(name)), *cells, _lines(_text(ended)))
    yield Text(table.title, style="bold")
    yield grid
    yield _note("Means over all trials, or over the n/m trials that report the number.")


def _trials(board: Scoreboard, *, drawn: bool) -> Iterator[RenderableType]:
    levels = measured_levels(board)
    grid = _grid(("trial", *levels), drawn=drawn)
    for row in board.trials:
        grid.add_row(Text(log(row.trial)), *(_outcome(row.cells.get(level)) for level in levels))
    cells = [cell for row in board.trials for cell in row.cells.values()]
    yield Text("Trials", style="bold")
    yield grid
    if any(cell.outcome is not cell.paper for cell in cells):
        yield _note(_PAPER_NOTE)
    if any(not cell.qualified for cell in cells):
        yield _note(UNQUALIFIED_NOTE)


def _outcome(cell: Cell | None) -> Text:
    if cell is None:
        return Text(NOT_ASKED, style="dim")
    text = f"{WORDS[cell.outcome]}{mark_outcome(cell.outcome, qualified=cell.qualified)}"
    other = () if cell.paper is cell.outcome else (f"({WORDS[cell.paper]})",)
    return _lines((text, *other))


def _plain(table: Table, *, drawn: bool) -> Iterator[RenderableType]:
    """Yield a table that has one kind of cell."""
    grid = _grid(table.heads, drawn=drawn)
    for row in table.rows:
        grid.add_row(*(Text(cell_text(cell, separator="\n")) for cell in row))
    yield Text(table.title, style="bold")
    yield grid
    yield from map(_note, table.notes)


def _grid(heads: Iterable[str], *, drawn: bool) -> Grid:
    first, *others = heads
    grid = Grid(
        box=SIMPLE_HEAD if drawn else None,
        pad_edge=False,
        padding=(0, 2 if not drawn else 1, 0, 0),
        header_style="dim",
    )
    # Numbers keep their lines; names, the first and the last column, may wrap.
    grid.add_column(first, overflow="fold", min_width=10)
    for number, head in enumerate(others, 1):
        is_last = number == len(others)
        grid.add_column(head, overflow="fold", no_wrap=not is_last)
    return grid


def _text(cell: Lines) -> list[str]:
    return cell_text(cell, separator="\n").split("\n")


def _lines(lines: Iterable[str]) -> Text:
    return Text("\n".join(lines))


def _stack(lines: Iterable[Text]) -> Text:
    return Text("\n").join(lines)


def _note(text: str) -> RenderableType:
    return Padding(Text(text, style="dim"), (0, 0, 1, 0))
