"""The freeze: after it nothing of the agent runs, and everything is measured."""

import hashlib
import time
from dataclasses import replace
from typing import Final

from reb_action import documents
from reb_action.model.agent import Freeze
from reb_action.model.limits import FREEZE_SECONDS
from reb_action.model.observation import Interpreter
from reb_action.model.progress import Progress
from reb_action.model.report import Report, ReportFault, ReportFaultKind, find_blocking_fault
from reb_action.probe.context import ProbeContext, reveal
from reb_action.probe.edited_copies import ModuleScan, scan_modules
from reb_action.probe.guard import protect_tracked_files
from reb_action.probe.hooks import StartedInterpreter, limit_hooks, list_unfound
from reb_action.probe.interpreter import observe_interpreter
from reb_action.probe.survey import (
    Restored,
    Survey,
    describe_change,
    look_at_interpreter,
    restore,
    survey,
)
from reb_action.redaction import redact
from reb_action.sandbox.protocol import FileFault, Network, Sandbox
from reb_action.session import report, reserve, state
from reb_action.session import secrets as session_secrets
from reb_action.session.layout import SessionLayout
from reb_action.session.state import Phase, Session
from reb_action.source import pristine as source_pristine

_FAULTS: Final = {
    FileFault.MISSING: ReportFaultKind.MISSING,
    FileFault.NOT_A_FILE: ReportFaultKind.NOT_A_FILE,
    FileFault.TOO_LARGE: ReportFaultKind.TOO_LARGE,
}


def freeze(
    layout: SessionLayout,
    begun: Session,
    sandbox: Sandbox,
    *,
    survivors: tuple[str, ...] | None = None,
    tell: Progress,
) -> None:
    """End every process, read the report, mount the probes, and observe the agent's environment.

    `survivors` are the processes that a halt just before has ended; None if there was no halt yet.
    It may be repeated: a step that was killed in the middle repeats it.
    """
    tell("freezing: ending every process, reading the report, revealing the probes")
    if survivors is None:
        survivors = sandbox.halt()
    # While nothing runs, nothing can be swapped.
    harvested = _harvested(sandbox, session_secrets.values(layout))
    with reserve.lend(layout):
        kept = _kept(layout, harvested)
        reveal(layout.mount, begun.trial.manifest)
    sandbox.resume(network=_probe_network(begun))
    seen = _look(layout, begun, sandbox, _claimed(harvested))
    frozen = replace(seen, survivors=survivors, report_sha256=kept)
    with reserve.lend(layout):
        documents.write(layout.freeze, frozen, kind="freeze")
    state.advance(layout, Phase.FROZEN)


def _look(
    layout: SessionLayout,
    begun: Session,
    sandbox: Sandbox,
    claimed: Report | ReportFault,
) -> Freeze:
    room = ProbeContext(
        sandbox=sandbox,
        mount=layout.mount,
        manifest=begun.trial.manifest,
        ends_at=time.monotonic() + FREEZE_SECONDS,
    )
    pristine = source_pristine.open_existing(layout.source, begun.trial.manifest.commit)
    fault = find_blocking_fault(claimed)
    usable = claimed if isinstance(claimed, Report) and fault is None else None
    start = _start(room, usable) if usable else None
    # Before anything of the agent runs: a hook could remove its own file.
    seen = survey(room, pristine, interpreter=start)
    restored = restore(room, pristine, seen)
    found = ModuleScan()
    # Without a report that names an interpreter nothing will run that could change the files.
    if usable is not None:
        if restored.fault is None:
            protect_tracked_files(room, pristine)
        interpreter = _interpreter(room, usable, seen, restored)
        if interpreter.fault is None:
            paths = interpreter.search_paths
            found = scan_modules(room, pristine, paths, seen.hooks, start=start)
        hooks = found.hooks or seen.hooks
        hooks = (*list_unfound(interpreter.hooks, hooks), *hooks)
        interpreter = replace(interpreter, hooks=limit_hooks(hooks, found.known_hooks))
        interpreter = _identified(room, interpreter, seen)
        _write_interpreter(layout, interpreter)
    return Freeze(
        report=fault,
        report_sha256=None,
        touched=restored.touched,
        survivors=(),
        native=seen.native,
        copies=found.copies,
        shadowing=found.shadowing,
        known_hooks=found.known_hooks,
    )


def _write_interpreter(layout: SessionLayout, interpreter: Interpreter) -> None:
    refusal = documents.find_refusal(interpreter, kind="interpreter")
    if refusal is not None:
        interpreter = _unkept(interpreter, refusal)
    with reserve.lend(layout):
        documents.write(layout.interpreter, interpreter, kind="interpreter")


def _start(room: ProbeContext, claimed: Report) -> StartedInterpreter:
    return StartedInterpreter(
        python=claimed.python_path, environment=claimed.environment, home=room.layout.home
    )


def _interpreter(
    room: ProbeContext, claimed: Report, seen: Survey, restored: Restored
) -> Interpreter:
    """Observe the interpreter; if the checkout cannot be restored, nothing may run in it."""
    if restored.fault is not None or seen.interpreter is None:
        fault = restored.fault or f"{claimed.python_path} was not examined"
        return Interpreter(path=claimed.python_path, path_is_good=True, fault=fault)
    return observe_interpreter(room, claimed, seen.interpreter)


def _unkept(interpreter: Interpreter, refusal: str) -> Interpreter:
    """Return the fault for an observation that no document can store: the levels are blocked."""
    fault = f"the observations of {interpreter.path} could not be stored: {refusal}"
    return Interpreter(path=interpreter.path, path_is_good=interpreter.path_is_good, fault=fault)


def _identified(room: ProbeContext, interpreter: Interpreter, seen: Survey) -> Interpreter:
    """Add the identity, and refuse an interpreter that is another one after it has run.

    What ran with it is the agent's, and could put a script in its place once it was examined.
    """
    if interpreter.fault is not None or seen.interpreter is None:
        return interpreter
    identity = seen.interpreter.identity
    now = look_at_interpreter(room, interpreter.path)
    fault = describe_change(interpreter.path, identity, now)
    return replace(interpreter, identity=identity, fault=fault)


def _harvested(sandbox: Sandbox, secrets: tuple[str, ...]) -> bytes | FileFault:
    found = sandbox.read(sandbox.layout.report, limit_bytes=report.LIMIT_BYTES)
    return redact(found, secrets) if isinstance(found, bytes) else found


def _kept(layout: SessionLayout, harvested: bytes | FileFault) -> str | None:
    """Keep the report, and return its hash."""
    if not isinstance(harvested, bytes):
        return None
    documents.write_bytes(layout.report, harvested)
    return hashlib.sha256(harvested).hexdigest()


def _claimed(harvested: bytes | FileFault) -> Report | ReportFault:
    if isinstance(harvested, bytes):
        return report.parse(harvested)
    return report.fault(_FAULTS[harvested])


def _probe_network(begun: Session) -> Network:
    wanted = any(one.network for one in begun.trial.manifest.entrypoints.values())
    return begun.spec.network if wanted else Network.NONE
