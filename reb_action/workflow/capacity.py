"""Decides how many trials run at the same time on this machine."""

import os
from typing import Final

from reb_action.errors import UsageError
from reb_action.model.progress import Progress
from reb_action.model.quantity import count
from reb_action.sandbox.protocol import Kind
from reb_action.trial.options import Options

AUTO: Final = "auto"
_CORES: Final = 2
_MIB: Final = 1 << 20


def choose_jobs(text: str, options: Options, *, gpus: int, tell: Progress) -> int:
    """Return the number of trials at a time: `auto` by cores, memory and GPUs, or as asked.

    Raises UsageError for any other text. Local trials share one machine and one user, so they run
    one after the other.
    """
    jobs = _automatic(options, gpus) if text == AUTO else _number(text)
    if options.kind is Kind.LOCAL and jobs > 1:
        tell("local trials are not isolated from each other, so one runs at a time (--jobs 1)")
        return 1
    if options.gpus and gpus and jobs > gpus // options.gpus:
        jobs = max(1, gpus // options.gpus)
        tell(f"{count(gpus, 'GPU')} allow {count(jobs, 'trial')} of {options.gpus} at a time")
    return jobs


def _number(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 64:
        raise UsageError(f"--jobs is {text[:20]!r}; use a number from 1 to 64, or {AUTO}")
    return int(text)


def _automatic(options: Options, gpus: int) -> int:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // _MIB
    room = [(os.cpu_count() or 1) // _CORES, memory // options.limits.memory_mib]
    if options.gpus:
        room.append(gpus // options.gpus)
    return max(1, min(room))
