"""Says what goes on while a trial runs: a live line in a terminal, plain lines in a log."""

import sys
import time
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager
from typing import Final, TextIO

import click
from rich.console import Console, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from reb_action.model.manifest import Level
from reb_action.model.scoreboard import Scoreboard
from reb_action.model.verdict import Verdict
from reb_action.render.board_lines import board_lines
from reb_action.render.escape import log
from reb_action.render.lines import short_lines, verdict_lines
from reb_action.render.terminal.scoreboard import board_tables
from reb_action.render.terminal.verdict import short_table, verdict_tables

_NARROW: Final = 72
"""Columns below which tables would be all wrapping; plain lines read better there."""

_BOARD: Final = 100
"""The same for a scoreboard, which has a column for each level."""


@contextmanager
def telling(*, quiet: bool) -> Generator[Callable[[str], None]]:
    """Yield a function that tells; it writes to standard error, so that output stays clean."""
    began = time.monotonic()
    if quiet:
        yield lambda _: None
    elif _is_terminal(sys.stderr):
        with _live(began) as tell:
            yield tell
    else:
        yield lambda line: click.echo(_stamped(line, time.monotonic() - began), err=True)


def show(verdict: Verdict, unqualified: Collection[Level]) -> None:
    """Print a verdict: tables in a terminal that is wide enough, plain lines elsewhere."""
    if _has_room(sys.stdout):
        _console(sys.stdout).print(verdict_tables(verdict, unqualified))
    else:
        click.echo("\n".join(verdict_lines(verdict, unqualified)))


def show_board(board: Scoreboard) -> None:
    """Print a scoreboard: tables in a terminal that is wide enough, plain lines elsewhere."""
    if _has_room(sys.stdout, columns=_BOARD):
        _console(sys.stdout).print(board_tables(board))
    else:
        click.echo("\n".join(board_lines(board)))


def show_short(verdict: Verdict, notes: str | None) -> None:
    """Print what the agent said and what was found."""
    if _has_room(sys.stdout):
        _console(sys.stdout).print(short_table(verdict, notes))
    else:
        click.echo("\n".join(short_lines(verdict, notes)))


@contextmanager
def _live(began: float) -> Generator[Callable[[str], None]]:
    """Show the newest line with a clock that runs; each older one stays, as in a log."""
    console = _console(sys.stderr)
    now: list[_Now] = []

    def tell(line: str) -> None:
        now.append(_Now(line, began))
        # First the new line, then the older one above it: printing draws the live line again.
        live.update(now[-1])
        for older in now[:-1]:
            live.console.print(older.stamped, soft_wrap=True)
        del now[:-1]

    with Live(console=console, transient=True, refresh_per_second=8) as live:
        try:
            yield tell
        finally:
            live.update("")
            for last in now:
                live.console.print(last.stamped, soft_wrap=True)


class _Now:
    """What is going on: a line, and since when."""

    def __init__(self, line: str, began: float) -> None:
        self._line = line
        self._told = time.monotonic()
        self.stamped = Text(_stamped(line, self._told - began))
        self._spinner = Spinner("line")

    def __rich__(self) -> RenderableType:
        row = Table.grid(padding=(0, 1, 0, 0))
        row.add_column(no_wrap=True)
        row.add_column(no_wrap=True)
        row.add_column(no_wrap=True, overflow="ellipsis")
        seconds = f"{_clock(time.monotonic() - self._told)}"
        row.add_row(self._spinner, Text(seconds, style="dim"), Text(log(self._line)))
        return row


def _stamped(line: str, seconds: float) -> str:
    return f"[{_clock(seconds)}] {log(line)}"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes:02}:{rest:02}"


def _is_terminal(stream: TextIO) -> bool:
    # Not rich's own opinion: FORCE_COLOR, which CI sets often, would turn a log into a terminal.
    return stream.isatty() and not _console(stream).is_dumb_terminal


def _has_room(stream: TextIO, *, columns: int = _NARROW) -> bool:
    return _is_terminal(stream) and _console(stream).width >= columns


def _console(stream: TextIO) -> Console:
    return Console(file=stream, highlight=False, markup=False, emoji=False)
