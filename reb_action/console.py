"""Says what goes on while a trial runs: a live line in a terminal, plain lines in a log."""

import time
from collections.abc import Generator
from contextlib import contextmanager

from rich.console import Console

from reb_action.render.escape import log
from reb_action.trial import Tell


@contextmanager
def telling(*, quiet: bool) -> Generator[Tell]:
    """Yield a function that tells; it writes to standard error, so that output stays clean."""
    console = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    began = time.monotonic()

    def stamped(line: str) -> str:
        minutes, seconds = divmod(int(time.monotonic() - began), 60)
        return f"[{minutes:02}:{seconds:02}] {log(line)}"

    if quiet:
        yield lambda _: None
    elif console.is_terminal:
        with console.status("") as status:
            yield lambda line: (console.print(stamped(line)), status.update(log(line)))[0]
    else:
        yield lambda line: console.print(stamped(line))
