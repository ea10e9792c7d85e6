"""Prints progress and results: tables in a terminal, plain lines in a pipe.

Each function imports what it prints with: a workflow step pays for no import that it does not use,
and a pipe does not need rich.
"""

import os
import sys
import time
from collections.abc import Collection, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

import click

from reb_action.model.progress import Progress

if TYPE_CHECKING:
    from rich.console import Console

    from reb_action.model.comparison import Comparisons
    from reb_action.model.manifest import Level
    from reb_action.model.scoreboard import Scoreboard
    from reb_action.model.verdict import LevelResult, Verdict
    from reb_action.session.layout import SessionLayout

LOG_ROWS: Final = 60
"""The last lines of a log that a step shows."""

_COLUMNS: Final = 72
"""Minimum width of a terminal for tables; narrower ones get plain lines."""


@contextmanager
def show_progress(*, quiet: bool) -> Generator[Progress]:
    """Yield a function that prints progress to standard error; standard output is for results."""
    if quiet:
        yield lambda _: None
    elif is_terminal(sys.stderr):
        from reb_action.cli.live_progress import live_progress

        with live_progress(make_console(sys.stderr), began=time.monotonic()) as show:
            yield show
    else:
        from reb_action.render.lines import stamp_line

        began = time.monotonic()
        yield lambda line: click.echo(stamp_line(line, time.monotonic() - began), err=True)


def print_note(line: str) -> None:
    """Print a note about the output to standard error."""
    click.echo(line, err=True)


def print_verdict(verdict: "Verdict", unqualified: "Collection[Level]") -> None:
    """Print a verdict: tables in a terminal that is wide enough, plain lines elsewhere."""
    if _fits(sys.stdout, columns=_COLUMNS):
        from reb_action.render.terminal.verdict import verdict_tables

        make_console(sys.stdout).print(verdict_tables(verdict, unqualified))
    else:
        from reb_action.render.lines import verdict_lines

        click.echo("\n".join(verdict_lines(verdict, unqualified)))


def print_scoreboard(board: "Scoreboard") -> None:
    """Print a scoreboard as tables; a pipe gets them without bars, rules and colours."""
    from reb_action.render.escape import guard
    from reb_action.render.terminal.scoreboard import board_tables

    console = make_console(sys.stdout)
    drawn = is_terminal(sys.stdout) and console.encoding.startswith("utf")
    tables = board_tables(board, width=console.width, drawn=drawn)
    if drawn:
        console.print(tables)
        return
    with console.capture() as capture:
        console.print(tables)
    click.echo("\n".join(guard(line.rstrip()) for line in capture.get().splitlines()))


def print_summary(verdict: "Verdict", notes: str | None) -> None:
    """Print the agent's claims and the observations of the probes."""
    if _fits(sys.stdout, columns=_COLUMNS):
        from reb_action.render.terminal.verdict import short_table

        make_console(sys.stdout).print(short_table(verdict, notes))
    else:
        from reb_action.render.lines import short_lines

        click.echo("\n".join(short_lines(verdict, notes)))


def is_terminal(stream: TextIO) -> bool:
    """Return whether a stream is a terminal that can draw."""
    # Not rich's is_terminal: CI often sets FORCE_COLOR, which would turn a log into a terminal.
    return stream.isatty() and not make_console(stream).is_dumb_terminal


def _fits(stream: TextIO, *, columns: int) -> bool:
    return is_terminal(stream) and make_console(stream).width >= columns


def make_console(stream: TextIO) -> "Console":
    """Return the console of a stream, without markup."""
    from rich.console import Console

    return Console(file=stream, highlight=False, markup=False, emoji=False)


def show_verdict(verdict: "Verdict", *, as_json: bool, folder: Path) -> None:
    """Print a verdict for people, or as JSON for machines."""
    if as_json:
        from reb_action import documents

        click.echo(documents.dump_json(documents.to_json(verdict)).decode(), nl=False)
        return
    from reb_action.results.page import unqualified
    from reb_action.session.layout import SessionLayout

    layout = SessionLayout(folder=folder)
    print_verdict(verdict, unqualified(layout))
    click.echo(f"Results: {layout.page}")


def print_level(layout: "SessionLayout", result: "LevelResult") -> None:
    """Print one level, and why it did not pass; on a runner with the end of its log, folded."""
    from reb_action.github.context import read_context
    from reb_action.render.lines import level_line, why_lines
    from reb_action.results.page import unqualified

    click.echo(level_line(result, unqualified(layout)))
    why = tuple(why_lines(result, link=read_context(os.environ).artifacts_url))
    for line in why:
        click.echo(line)
    if why:
        print_log_end(layout.log(result.level), layout)


def print_log_end(path: Path, layout: "SessionLayout") -> None:
    """Print the end of a log of a trial, folded; nothing outside a runner, which can fold."""
    from reb_action.github.commands import format_group
    from reb_action.github.context import read_context
    from reb_action.render.escape import guard, log_rows
    from reb_action.session.evidence import excerpt

    rows = tuple(map(guard, log_rows(excerpt(path), rows=LOG_ROWS)))
    if rows and read_context(os.environ).output is not None:
        name = path.relative_to(layout.folder).as_posix()
        for line in format_group(f"End of {name}", rows):
            click.echo(line)


def print_comparisons(comparisons: "Comparisons", *, as_json: bool) -> None:
    """Print comparisons for people, or as JSON for machines."""
    from reb_action import documents
    from reb_action.render.comparison_lines import comparison_lines

    if as_json:
        click.echo(documents.encode(comparisons, kind="comparisons").decode(), nl=False)
        return
    for line in comparison_lines(comparisons):
        click.echo(line)


def show_scoreboard(board: "Scoreboard", *, as_json: bool) -> None:
    """Print a scoreboard for people, or as JSON (scoreboard.json) for machines."""
    if as_json:
        from reb_action import documents

        click.echo(documents.encode(board, kind="scoreboard").decode(), nl=False)
    else:
        print_scoreboard(board)


def print_kept(folder: Path) -> None:
    """Say how to go on with a trial whose sandbox was kept."""
    click.echo(
        f"The sandbox is kept. Measure it by a corrected manifest: reb probe {folder} C1"
        f" --manifest FILE. Remove it: reb stop {folder}"
    )
