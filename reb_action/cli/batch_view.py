"""Shows the trials of a batch: a table that is drawn again in a terminal, lines elsewhere."""

import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import click

from reb_action.cli.console import is_terminal, make_console
from reb_action.model.quantity import count
from reb_action.render.escape import log
from reb_action.render.lines import stamp_line
from reb_action.render.quantities import amount, clock, dollars
from reb_action.workflow.batch import Job
from reb_action.workflow.usage import SpendingMeter

if TYPE_CHECKING:
    from rich.console import RenderableType

STATUS_SECONDS: Final = 60.0
HEADS: Final = ("trial", "time", "turns", "tokens", "cost", "phase")


@dataclass(slots=True)
class _Row:
    """A running trial: its start, its last line, its usage."""

    began: float
    meter: SpendingMeter
    phase: str = "starting"
    cells: tuple[str, ...] = field(default=())


class BatchView:
    """Keeps the state of the running trials, and prints a line for every event."""

    def __init__(
        self, total: int, echo: Callable[[str], None], *, now: Callable[[], float]
    ) -> None:
        self._total = total
        self._echo = echo
        self._now = now
        self._began = now()
        self._rows: dict[str, _Row] = {}
        self._ended = 0
        self._status_at = self._began

    def begin(self, job: Job) -> None:
        """Show that a trial has begun."""
        self._rows[job.id] = _Row(began=self._now(), meter=SpendingMeter(job.options.folder))
        self._line(f"{job.id}: begins ({len(self._rows)} at a time)")

    def tell(self, name: str, text: str) -> None:
        """Show a line of a trial's progress; "" is the batch itself."""
        if name in self._rows:
            self._rows[name].phase = text
        elif name:
            self._ended += 1 if text == "finished before" else 0
        self._line(f"{name}: {text}" if name else text)

    def end(self, name: str, fault: str | None) -> None:
        """Show that a trial has ended."""
        row = self._rows.pop(name)
        self._ended += 1
        spent = ", ".join((*self._used(row), clock(self._now() - row.began)))
        how = "sealed" if fault is None else f"could not run: {fault}"
        self._line(f"{name}: {how}; {spent} ({self._ended} of {self._total})")

    def refresh(self) -> None:
        """Print a line for each running trial, once a minute."""
        if self._now() - self._status_at < STATUS_SECONDS:
            return
        self._status_at = self._now()
        for name, *cells in self.table():
            self._line(f"{name}: {', '.join(cells)}")

    def table(self) -> list[tuple[str, ...]]:
        """Return a row of texts for each running trial, in the order of HEADS."""
        return [
            (name, clock(self._now() - row.began), *self._used(row), log(row.phase))
            for name, row in self._rows.items()
        ]

    def summary(self) -> str:
        """Return how many trials have ended and how many run."""
        return f"{self._ended} of {count(self._total, 'trial')} ended, {len(self._rows)} running"

    def _used(self, row: _Row) -> tuple[str, ...]:
        spent = row.meter.read()
        turns, tokens = count(spent.calls, "turn"), f"{amount(spent.tokens)} tokens"
        return turns, tokens, dollars(spent.cost_usd)

    def _line(self, text: str) -> None:
        self._echo(stamp_line(text, self._now() - self._began))


@contextmanager
def show_batch(total: int) -> Generator[BatchView]:
    """Yield a view on standard error, live in a terminal."""
    if not is_terminal(sys.stderr):
        yield BatchView(total, lambda text: click.echo(text, err=True), now=time.monotonic)
        return
    from rich.live import Live
    from rich.text import Text

    with Live(console=make_console(sys.stderr), transient=True, refresh_per_second=2) as live:
        view = BatchView(
            total,
            lambda text: live.console.print(Text(text), soft_wrap=True),
            now=time.monotonic,
        )
        live.update(_Table(view))
        yield view


class _Table:
    """The running trials, as they are when the table is drawn."""

    def __init__(self, view: BatchView) -> None:
        self._view = view

    def __rich__(self) -> "RenderableType":
        from rich.table import Table

        table = Table(*HEADS, title=self._view.summary(), title_justify="left", box=None)
        for cells in self._view.table():
            table.add_row(*cells)
        return table
