"""The live progress line of a terminal."""

import time
from collections.abc import Generator
from contextlib import contextmanager

from rich.console import Console, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from reb_action.model.progress import Progress
from reb_action.render.escape import log
from reb_action.render.lines import stamp_line
from reb_action.render.quantities import clock


@contextmanager
def live_progress(console: Console, *, began: float) -> Generator[Progress]:
    """Yield a function that shows a line; `began` is on the monotonic clock."""
    lines: list[_LiveLine] = []

    def show(text: str) -> None:
        lines.append(_LiveLine(text, began))
        # First the new line, then the older line above it: printing draws the live line again.
        live.update(lines[-1])
        for older in lines[:-1]:
            live.console.print(older.stamped, soft_wrap=True)
        del lines[:-1]

    with Live(console=console, transient=True, refresh_per_second=8) as live:
        try:
            yield show
        finally:
            live.update("")
            for last in lines:
                live.console.print(last.stamped, soft_wrap=True)


class _LiveLine:
    """The current line and the time at which it became current."""

    def __init__(self, text: str, began: float) -> None:
        self._text = text
        self._since = time.monotonic()
        self.stamped = Text(stamp_line(text, self._since - began))
        self._spinner = Spinner("line")

    def __rich__(self) -> RenderableType:
        row = Table.grid(padding=(0, 1, 0, 0))
        row.add_column(no_wrap=True)
        row.add_column(no_wrap=True)
        row.add_column(no_wrap=True, overflow="ellipsis")
        seconds = clock(time.monotonic() - self._since)
        row.add_row(self._spinner, Text(seconds, style="dim"), Text(log(self._text)))
        return row
