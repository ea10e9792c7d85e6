"""A scoreboard as tables for a terminal, as wide as the terminal is."""

from collections.abc import Iterator
from typing import Final

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from reb_action.model.scoreboard import Scoreboard
from reb_action.model.verdict import Scoring
from reb_action.render.escape import log
from reb_action.render.shares import LEGEND
from reb_action.render.tables import (
    Lines,
    Quoted,
    Table,
    headline,
    run_again,
    spent,
    standings,
    trials,
)

_MOST_COLUMNS: Final = 7
"""So many fit into 80 characters; a wider table goes on below."""
_MOST_TRIALS: Final = 100
"""Above this many a row for each trial hides what the agents came to."""


def board_tables(board: Scoreboard) -> RenderableType:
    """Return both scorings, what was spent, the trials if they are few, and what is incomplete."""
    tables = [standings(board, scoring) for scoring in Scoring]
    tables += [spent(board)]
    tables += [trials(board, Scoring.STRICT)] if len(board.trials) <= _MOST_TRIALS else []
    tables += [run_again(board)] if board.run_again else []
    parts = (part for table in tables for part in _drawn(table))
    legend = Text(f"{LEGEND}\n", style="dim")
    return Group(*parts, legend, Text(headline(board), style="bold"))


def _drawn(table: Table) -> Iterator[RenderableType]:
    yield Text(table.title, style="bold")
    for start in range(1, len(table.heads), _MOST_COLUMNS - 1):
        yield _grid(table, slice(start, start + _MOST_COLUMNS - 1))
    for note in table.notes:
        yield Padding(Text(note, style="dim"), (0, 0, 1, 0))


def _grid(table: Table, shown: slice) -> Grid:
    """Return some columns, after the names."""
    grid = Grid(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    grid.add_column(table.heads[0], overflow="fold")
    for head in table.heads[shown]:
        # What is ours keeps its lines; names, reasons and ends give way.
        inner = head != table.heads[-1]
        grid.add_column(head.replace(" ", "\n"), overflow="fold", no_wrap=inner)
    for row in table.rows:
        grid.add_row(*(_cell(lines) for lines in (row[0], *row[shown])))
    return grid


def _cell(lines: Lines) -> Text:
    return Text("\n".join(log(one.text) if isinstance(one, Quoted) else one for one in lines))
