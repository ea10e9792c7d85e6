"""Finds and ends the processes of local sandboxes on this machine, by marker and by descent."""

import functools
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

from reb_action.errors import UnendedError
from reb_action.model.quantity import count
from reb_action.sandbox.local.isolation import Isolation
from reb_action.sandbox.owner import Trace, format_labels, parse_labels

MARKER = "REB_TRACE"
SUPERVISOR = "REB_SUPERVISOR"

_PATIENCE_SECONDS = 20.0
_LOOKS = 10
_CHILD_LOOKS = 200
# The main thread of a zombie counts as well.
_LIVING_THREADS = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class Process:
    """A process in /proc; `started` distinguishes it from a later one with the same number.

    `supervises` is the isolation mode of a supervisor of the harness.
    """

    pid: int
    parent: int
    name: str
    started: int
    trace: Trace | None
    supervises: Isolation | None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Family:
    """The processes of sandboxes: supervisors, first processes of PID namespaces, and the rest."""

    supervisors: tuple[Process, ...]
    inits: tuple[Process, ...]
    members: tuple[Process, ...]

    @property
    def all(self) -> tuple[Process, ...]:
        """Return every one of them, supervisors last."""
        return (*self.members, *self.inits, *self.supervisors)


def format_marker(trace: Trace) -> str:
    """Write a trace as the value of the marker variable."""
    return urlencode(format_labels(trace))


def parse_marker(text: str) -> Trace | None:
    """Read a trace from the value of the marker variable; None if it is not a marker of reb."""
    return parse_labels(dict(parse_qsl(text)))


def find_traces() -> tuple[Trace, ...]:
    """Return the trace of every local sandbox that has a process on this machine."""
    return tuple({process.trace for process in _scan() if process.trace is not None})


def is_member(pid: int, is_ours: Callable[[Trace], bool]) -> bool:
    """Return whether a process carries the marker or descends from one that does.

    A probe starts its command with an environment that is complete, and so without the marker.
    """
    return any(process.pid == pid for process in _family(_scan(), is_ours).all)


def end_all(is_ours: Callable[[Trace], bool]) -> tuple[str, ...]:
    """End the processes of the matching sandboxes; return the names of those that were there.

    With the first process of a PID namespace the kernel ends all others in it. Supervisors go last:
    while they live, what their descendants leave behind stays findable. Raises UnendedError.
    """
    names: dict[tuple[int, int], str] = {}
    give_up = time.monotonic() + _PATIENCE_SECONDS
    # A process may have started another one since the last check, so the last one must be empty.
    while (family := _family(_scan(), is_ours)).all:
        if time.monotonic() > give_up:
            left = family.all
            message = f"{count(len(left), 'process', 'processes')} of the local sandbox, such as"
            message += f" {left[0].name}, "
            raise UnendedError(message + "could not be ended; end them by hand and start again.")
        for process in family.members:
            names.setdefault((process.pid, process.started), process.name)
        for process in _next_to_end(family):
            _kill(process)
        for process in _end_children(family.supervisors):
            names.setdefault((process.pid, process.started), process.name)
        time.sleep(0.01)
    return tuple(names.values())


def _next_to_end(family: _Family) -> tuple[Process, ...]:
    if family.inits or family.members:
        # The kernel is faster than any list of members.
        return family.inits or family.members
    return family.supervisors if all(_is_childless(one.pid) for one in family.supervisors) else ()


def _end_children(supervisors: tuple[Process, ...]) -> Iterator[Process]:
    """End the children of supervisors that no namespace helps, and yield them.

    A chain of processes that forks faster than this machine's processes can be listed is always
    elsewhere by then. Its next link becomes the supervisor's child, and those are few.
    """
    for supervisor in supervisors:
        if supervisor.supervises is Isolation.NONE:
            for _ in range(_CHILD_LOOKS):
                children = (_read(int(pid)) for pid in _children(supervisor.pid))
                for child in children:
                    if child is not None and child.parent == supervisor.pid:
                        _kill(child)
                        yield child


def _is_childless(pid: int) -> bool:
    """Return whether a supervisor has no descendants left, over several checks.

    A chain of processes, each of which starts the next one and exits, can escape a single listing
    of all processes. But an orphan becomes the supervisor's own child, with a new process number.
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


def _family(processes: tuple[Process, ...], is_ours: Callable[[Trace], bool]) -> _Family:
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
    supervisors = tuple(process for process in family if process.supervises)
    outside = {one.pid for one in supervisors if one.supervises is not Isolation.NONE}
    rest = [process for process in family if not process.supervises]
    return _Family(
        supervisors=supervisors,
        inits=tuple(process for process in rest if process.parent in outside),
        members=tuple(process for process in rest if process.parent not in outside),
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
    # A process of which only the main thread has ended shows as a zombie; its other threads run on.
    if fields[0] in (b"Z", b"X") and int(fields[17]) < _LIVING_THREADS:
        return None
    environment = _environment(pid) if _is_here(pid) else {}
    supervises = environment.get(SUPERVISOR)
    return Process(
        pid=pid,
        parent=int(fields[1]),
        name=name.decode(errors="replace"),
        started=int(fields[19]),
        trace=parse_marker(environment.get(MARKER, "")),
        supervises=Isolation(supervises) if supervises in tuple(Isolation) else None,
    )


def _is_here(pid: int) -> bool:
    """Return whether a process is in reb's own PID namespace: only there its marker counts."""
    try:
        return Path(f"/proc/{pid}/ns/pid").readlink() == _namespace()
    except OSError:
        return False


@functools.cache
def _namespace() -> Path:
    return Path("/proc/self/ns/pid").readlink()


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
