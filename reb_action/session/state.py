"""The session folder of one trial: its state between the steps."""

import os
import re
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Final

from reb_action import documents
from reb_action.errors import DocumentError, UsageError
from reb_action.gateway.settings import Budget
from reb_action.model.agent import Key, Protocol
from reb_action.model.manifest import Level, Trial
from reb_action.sandbox.owner import Trace, has_folder
from reb_action.sandbox.protocol import Kind, Limits, SandboxSpec
from reb_action.session import reserve
from reb_action.session.layout import SessionLayout


class Phase(StrEnum):
    """How far a trial has come."""

    STARTING = "starting"
    STARTED = "started"
    AGENT = "agent"
    AGENT_DONE = "agent_done"
    FROZEN = "frozen"
    STOPPED = "stopped"


_ORDER: Final = tuple(Phase)


@dataclass(frozen=True, kw_only=True, slots=True)
class Process:
    """A process of this machine; `started` differs for a later one with the same number."""

    pid: int
    started: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelChoice:
    """The model of an agent, its address and its budgets; never its key.

    `prices` is the user's price list. With `any_model` answers of another model count. With
    `preflight` a test request is sent before the agent starts.
    """

    name: str
    url: str
    key: Key = Key.GATEWAY
    budget: Budget = field(default_factory=Budget)
    prices: str | None = None
    any_model: bool = False
    preflight: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentChoice:
    """The user's choice of an agent; `hosts` are the allowed hosts if the network is not open."""

    name: str
    argument: str | None
    total_seconds: int
    setup_seconds: int
    idle_seconds: int = 1800
    model: ModelChoice | None = None
    hosts: tuple[str, ...] = ()
    protocol: Protocol = Protocol.STANDARD


@dataclass(frozen=True, kw_only=True, slots=True)
class Session:
    """State between steps. `owner` called the steps; `busy` is the step that is at work.

    `qualified_limits` are the limits within which the known-good environment passed a level.
    `amended`: the manifest was replaced after the agent had ended.
    """

    trial: Trial
    agent: AgentChoice
    levels: tuple[Level, ...]
    spec: SandboxSpec
    owner: Process
    handle: str = ""
    phase: Phase = Phase.STARTING
    busy: Process | None = None
    qualified_limits: Mapping[Level, Limits] = field(default_factory=dict[Level, Limits])
    amended: bool = False


def load(layout: SessionLayout) -> Session:
    """Read the session of a folder; raises DocumentError."""
    return documents.read(layout.session, Session, kind="session")


def demand_trial(layout: SessionLayout) -> None:
    """Raise UsageError if a folder does not exist or has no trial."""
    if not layout.session.exists():
        raise UsageError(f"there is no trial in {layout.folder}; name the folder of a trial")


def find_limits(layout: SessionLayout) -> Limits | None:
    """Return the limits of a trial's sandbox; None where reb sets none.

    A local one has at most a limit of its disk.
    """
    spec = load(layout).spec
    if spec.kind is Kind.DOCKER:
        return spec.limits
    if spec.limits.disk_mib is None:
        return None
    return replace(spec.limits, memory_mib=0, shm_mib=0, processes=0)


def save(layout: SessionLayout, session: Session) -> Session:
    """Write the session and return it; on a full disk with the space that the trial keeps."""
    try:
        documents.write(layout.session, session, kind="session")
    except OSError as error:
        if not reserve.is_disk_full(error):
            raise
        with reserve.lend(layout):
            documents.write(layout.session, session, kind="session")
    return session


def advance(layout: SessionLayout, phase: Phase) -> Session:
    """Record that a trial has reached a phase; raises UsageError if it is already further.

    A step that continues after `reb stop` must not mark a stopped trial as running.
    """
    session = load(layout)
    if _ORDER.index(phase) < _ORDER.index(session.phase):
        raise UsageError(
            f"the trial in {layout.folder} cannot become {phase}: it is {session.phase} already"
        )
    # The step that starts or stops a trial does not run inside of `at_work`.
    busy = None if phase in (Phase.STARTED, Phase.STOPPED) else session.busy
    return save(layout, replace(session, phase=phase, busy=busy))


@contextmanager
def at_work(layout: SessionLayout) -> Generator[Session]:
    """Mark a step as at work, so that a later sweep sees when it was killed in the middle."""
    session = load(layout)
    if session.phase is Phase.STOPPED:
        raise UsageError(f"the trial in {layout.folder} is stopped; start it again first")
    if session.busy and session.busy.pid != os.getpid() and _goes_on(session.busy):
        raise UsageError(f"another step is running in {layout.folder}; wait until it has ended")
    owner = session.owner
    if not _goes_on(owner):
        # The process that started the trial has ended; the caller of this step takes over.
        owner = process(os.getppid())
    session = save(layout, replace(session, owner=owner, busy=process(os.getpid())))
    try:
        yield session
    finally:
        if layout.session.is_file():
            save(layout, replace(load(layout), busy=None))


def is_alive(trace: Trace) -> bool:
    """Return whether the session of a sandbox still runs: not stopped, caller and step alive.

    Each step is a separate process, so between steps only the caller is alive: the runner's
    worker, or a shell. A step that was killed stays in the document as `busy`.
    """
    layout = SessionLayout(folder=Path(trace.mount).parent.parent)
    try:
        if not layout.session.exists():
            return has_folder(trace)
        session = load(layout)
    except (DocumentError, OSError):
        # Another version of reb or another user wrote it, and the trial may be running. The
        # sandbox's own `expires` is the limit.
        return True
    return session.spec.session == trace.session and goes_on(session)


def find_resumable_end(trace: Trace, *, hours: float) -> str | None:
    """Return the time until which a trial with a killed step can be resumed, or None.

    That is `hours` after its last change.
    """
    layout = SessionLayout(folder=Path(trace.mount).parent.parent)
    try:
        session = load(layout)
    except (DocumentError, OSError):
        return None
    if session.spec.session != trace.session or not is_interrupted(session):
        return None
    signs = [path.stat().st_mtime for path in (layout.session, layout.progress) if path.exists()]
    until = max(signs) + hours * 3600
    if until <= time.time():
        return None
    return datetime.fromtimestamp(until, UTC).isoformat(sep=" ", timespec="minutes")


def is_interrupted(session: Session) -> bool:
    """Return whether a trial has a sandbox and no running process: its next step can continue."""
    return session.phase not in (Phase.STARTING, Phase.STOPPED) and not goes_on(session)


def goes_on(session: Session) -> bool:
    """Return whether a trial is not stopped, and its caller and its step, if any, are alive."""
    if session.phase is Phase.STOPPED:
        return False
    return all(_goes_on(one) for one in (session.owner, session.busy) if one is not None)


def mark(path: Path, one: Process) -> None:
    """Write down which process is at work in a folder."""
    path.write_text(f"{one.pid} {one.started}\n", encoding="ascii")


def goes_on_in(path: Path) -> bool:
    """Return whether the recorded process of another trial still runs; False if malformed."""
    found = re.fullmatch(r"(\d{1,9}) (\d{1,18})\n", path.read_text("utf-8", "replace"), re.ASCII)
    if found is None or int(found[1]) == os.getpid():
        return False
    return _goes_on(Process(pid=int(found[1]), started=int(found[2])))


def process(pid: int) -> Process:
    """Return the mark of a running process."""
    return Process(pid=pid, started=_started(pid) or 0)


def _goes_on(one: Process) -> bool:
    return _started(one.pid) == one.started


def _started(pid: int) -> int | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    # A zombie has ended already.
    return None if fields[0] == "Z" else int(fields[19])
