"""A scoreboard in plain lines, for a log, a pipe and a screen reader: each number has its name."""

from collections.abc import Iterator

from reb_action.model.scoreboard import Scoreboard
from reb_action.model.verdict import Scoring
from reb_action.render.escape import log
from reb_action.render.shares import LEGEND
from reb_action.render.tables import Table, cell_text, headline, resources, standings


def board_lines(board: Scoreboard) -> Iterator[str]:
    """Yield the tables of the agents, their legend, the trials to run again and the headline."""
    for table in (*(standings(board, scoring) for scoring in Scoring), resources(board)):
        yield from _table_lines(table)
    yield LEGEND
    for status, trials in (("missing", board.missing), ("invalid", board.invalid)):
        for trial, reason in trials.items():
            yield f"run again, {status}: {log(trial)}: {log(reason)}"
    yield headline(board)


def _table_lines(table: Table) -> Iterator[str]:
    yield table.title
    for name, *cells in table.rows:
        yield f"  {cell_text(name, separator=', ')}"
        for head, cell in zip(table.heads[1:], cells, strict=True):
            yield f"    {head}: {cell_text(cell, separator=' ')}"
    yield from table.notes
