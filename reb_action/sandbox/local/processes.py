"""Finds and ends the processes of local sandboxes on this machine, by marker and by descent."""

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

from reb_action.errors import SandboxError
from reb_action.sandbox.trace import Trace, labels_of, parse_labels

MARKER = "REB_TRACE"
SUPERVISOR = "REB_SUPERVISOR"

_PATIENCE_SECONDS = 20.0
_LOOKS = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class Process:
    """A process as /proc shows it; `started` tells it from a later one with the same number."""

    pid: int
    parent: int
    name: str
    started: int
    trace: Trace | None
    supervisor: bool


def marker_of(trace: Trace) -> str:
    """Write a trace as the value of the marker variable."""
    return urlencode(labels_of(trace))


def find_traces() -> tuple[Trace, ...]:
    """Return the trace of every local sandbox that has a process on this machine."""
    return tuple({process.trace for process in _scan() if process.trace is not None})


def is_member(pid: int, is_ours: Callable[[Trace], bool]) -> bool:
    """Say whether a process carries the marker or descends from one that does.

    A probe starts its command with an environment that is complete, and so without the marker.
    """
    supervisors, members = _family(_scan(), is_ours)
    return any(process.pid == pid for process in (*supervisors, *members))


def end_all(is_ours: Callable[[Trace], bool]) -> tuple[str, ...]:
    """End the processes of the matching sandboxes; return the names of those that were there.

    Supervisors go last: while they live, what their descendants leave behind stays findable.
    """
    names: dict[tuple[int, int], str] = {}
    give_up = time.monotonic() + _PATIENCE_SECONDS
    # One that was seen alone may have started its command since, so the last look must be empty.
    while any(family := _family(_scan(), is_ours)):
        supervisors, members = family
        if time.monotonic() > give_up:
            left = (*members, *supervisors)
            message = f"{len(left)} processes of the local sandbox, such as {left[0].name}, "
            raise SandboxError(message + "do not end; end them by hand and start again.")
        for process in members:
            names.setdefault((process.pid, process.started), process.name)
        if members or all(_is_childless(one.pid) for one in supervisors):
            for process in members or supervisors:
                _kill(process)
        time.sleep(0.01)
    return tuple(names.values())


def _is_childless(pid: int) -> bool:
    """Say whether a supervisor has nobody left, over several looks.

    A chain of processes, each of which starts the next and dies, slips through any one look at all
    processes; but what is orphaned becomes the supervisor's own child, by a number not seen before.
    """
    known: set[str] = set()
    for look in range(_LOOKS):
        children = _children(pid)
        if any(child not in known and (look or not _is_dead(child)) for child in children):
            return False
        known.update(children)
        time.sleep(0.002)
    return True


def _children(pid: int) -> tuple[str, ...]:
    found = ""
    with suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            found += (thread / "children").read_text()
    return tuple(found.split())


def _is_dead(pid: str) -> bool:
    return _read(int(pid)) is None


def _family(
    processes: tuple[Process, ...], is_ours: Callable[[Trace], bool]
) -> tuple[tuple[Process, ...], tuple[Process, ...]]:
    ours = {process.pid for process in processes if process.trace and is_ours(process.trace)}
    children: dict[int, list[int]] = {}
    for process in processes:
        children.setdefault(process.parent, []).append(process.pid)
    to_visit = list(ours)
    while to_visit:
        new = [pid for pid in children.get(to_visit.pop(), []) if pid not in ours]
        ours.update(new)
        to_visit.extend(new)
    family = tuple(process for process in processes if process.pid in ours)
    return (
        tuple(process for process in family if process.supervisor),
        tuple(process for process in family if not process.supervisor),
    )


def _scan() -> tuple[Process, ...]:
    numbers = (int(entry) for entry in os.listdir("/proc") if entry.isdigit())  # noqa: PTH208
    found = (_read(pid) for pid in numbers if pid != os.getpid())
    return tuple(process for process in found if process is not None)


def _read(pid: int) -> Process | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    # The name may itself hold spaces and parentheses.
    name, _, rest = stat.partition(b"(")[2].rpartition(b")")
    fields = rest.split()
    if fields[0] in (b"Z", b"X"):
        return None
    environment = _environment(pid)
    return Process(
        pid=pid,
        parent=int(fields[1]),
        name=name.decode(errors="replace"),
        started=int(fields[19]),
        trace=parse_labels(dict(parse_qsl(environment.get(MARKER, "")))),
        supervisor=SUPERVISOR in environment,
    )


def _environment(pid: int) -> dict[str, str]:
    try:
        raw = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return {}
    pairs = (item.decode(errors="replace").partition("=") for item in raw.split(b"\0"))
    return {name: value for name, _, value in pairs}


def _kill(process: Process) -> None:
    with suppress(ProcessLookupError):
        descriptor = os.pidfd_open(process.pid)
        try:
            # With the descriptor held the number cannot pass to another process.
            now = _read(process.pid)
            if now is not None and now.started == process.started:
                signal.pidfd_send_signal(descriptor, signal.SIGKILL)
        finally:
            os.close(descriptor)
