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
from reb_action.render.shares import LEGEND
from reb_action.render.tables import (
    Table,
    cell_text,
    headline,
    resources,
    run_again,
    standings,
    trials,
)

_COLUMNS: Final = 7
"""The most columns that fit into 80 characters; a wider table goes on below."""
_TRIALS: Final = 100
"""Above this, a row for each trial hides the results of the agents."""


def board_tables(board: Scoreboard) -> RenderableType:
    """Return both scorings, the resources, the trials if they are few, and those to run again."""
    tables = [standings(board, scoring) for scoring in Scoring]
    tables += [resources(board)]
    tables += [trials(board, Scoring.STRICT)] if len(board.trials) <= _TRIALS else []
    tables += [run_again(board)] if board.run_again else []
    parts = (part for table in tables for part in _draw(table))
    legend = Text(f"{LEGEND}\n", style="dim")
    return Group(*parts, legend, Text(headline(board), style="bold"))


def _draw(table: Table) -> Iterator[RenderableType]:
    yield Text(table.title, style="bold")
    for start in range(1, len(table.heads), _COLUMNS - 1):
        yield _grid(table, slice(start, start + _COLUMNS - 1))
    for note in table.notes:
        yield Padding(Text(note, style="dim"), (0, 0, 1, 0))


def _grid(table: Table, columns: slice) -> Grid:
    """Return some columns, after the names."""
    grid = Grid(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    grid.add_column(table.heads[0], overflow="fold")
    for head in table.heads[columns]:
        # Numbers keep their lines; names and reasons wrap.
        grid.add_column(head.replace(" ", "\n"), overflow="fold", no_wrap=head != table.heads[-1])
    for row in table.rows:
        grid.add_row(*(Text(cell_text(cell, separator="\n")) for cell in (row[0], *row[columns])))
    return grid
