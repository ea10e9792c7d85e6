"""One level of a trial: observed, if there is anything to observe, and judged."""

import hashlib
from dataclasses import replace

from reb_action import documents
from reb_action.errors import UnendedError, UsageError
from reb_action.judge.judge import judge
from reb_action.judge.levels import spec_of
from reb_action.model.agent import Freeze, Report
from reb_action.model.manifest import Level
from reb_action.model.observation import (
    CudaObservation,
    ImportsObservation,
    Interpreter,
    Observation,
    RunObservation,
    Witness,
)
from reb_action.model.verdict import LevelResult
from reb_action.probe.context import ProbeContext
from reb_action.probe.cuda import observe_cuda
from reb_action.probe.imports import observe_imports
from reb_action.probe.run import observe_run
from reb_action.progress import Progress
from reb_action.sandbox import select
from reb_action.sandbox.protocol import Sandbox
from reb_action.session import evidence, report, secrets, state
from reb_action.session.layout import SessionLayout
from reb_action.session.state import Phase, Session
from reb_action.source import pristine as source_pristine
from reb_action.trial.freeze import freeze


def observe(layout: SessionLayout, level: Level, *, tell: Progress) -> LevelResult:
    """Make the observation of one level, if there is anything to observe, and judge it."""
    with state.at_work(layout) as begun:
        _demand_agent(layout, begun)
        sandbox = select.attach(begun.spec, begun.handle)
        if begun.phase is not Phase.FROZEN:
            freeze(layout, begun, sandbox, tell=tell)
        found = evidence.read(layout)
        usable = isinstance(found.report, Report) and found.interpreter is not None
        if usable and found.interpreter and not found.interpreter.fault:
            _observe(layout, begun, sandbox, level, tell)
    return judge(evidence.read(layout)).result(level)


def _demand_agent(layout: SessionLayout, begun: Session) -> None:
    """Refuse to measure what no agent has made: that would be held against it."""
    if begun.phase in (Phase.STARTING, Phase.STARTED):
        raise UsageError(f"no agent has worked in {layout.folder}; run reb agent first")
    if begun.phase is Phase.AGENT:
        raise UsageError(f"the agent in {layout.folder} was interrupted; start the trial again")


def _observe(
    layout: SessionLayout, begun: Session, sandbox: Sandbox, level: Level, tell: Progress
) -> None:
    manifest = begun.trial.manifest
    runs = level in manifest.entrypoints
    if not runs and (level not in (Level.C0, Level.C2) or level in manifest.not_applicable):
        return
    if begun.spec.gpus < spec_of(level).gpus_needed(manifest):
        return
    tell(f"{level} is being observed")
    room = ProbeContext(
        sandbox=sandbox, mount=layout.mount, manifest=manifest, hidden=secrets.values(layout)
    )
    kind = evidence.kind_of(level)[1]
    try:
        seen = _observation(layout, room, level)
    except UnendedError as error:
        if level is Level.C0:
            raise
        seen = _unmeasured(level, sandbox, str(error))
    observation = readable(seen, kind)
    documents.write(layout.observation(level), observation, kind=kind)


def _unmeasured(level: Level, sandbox: Sandbox, why: str) -> Observation:
    """Return the observation of a level at which nothing could be measured, through no run."""
    witness = Witness(samples=0, peak_processes=0, cpu_seconds=0.0, peak_memory_mib=0)
    present = sandbox.spec.gpus
    if level is Level.C2:
        return CudaObservation(
            frameworks=(), witness=witness, gpus_present=present, seconds=0.0, invalid=why
        )
    return RunObservation(
        argv=(),
        exit_code=None,
        timed_out=False,
        seconds=0.0,
        proofs=(),
        decoy=None,
        witness=witness,
        restored=(),
        log_sha256=hashlib.sha256(b"").hexdigest(),
        gpus_present=present,
        invalid=why,
    )


def readable(seen: Observation, kind: str) -> Observation:
    """Return what can be kept: of an observation that is too large, only that it is."""
    size = len(documents.encode(seen, kind=kind))
    if size <= documents.LIMIT_BYTES:
        return seen
    # What the environment says at such length is its failure, and no reason to lose the verdict.
    bare = replace(seen, fault=f"what was seen of it is {size} bytes long, which nobody can read")
    match bare:
        case RunObservation():
            witness = _bare(bare.witness)
            cut = replace(bare, proofs=(), restored=(), changed=(), ranks=(), witness=witness)
            return replace(cut, decoy=None)
        case CudaObservation():
            return replace(bare, frameworks=(), witness=_bare(bare.witness))
        case ImportsObservation():
            return replace(
                bare, missing=(), third_party=(), stub_only=(), hollow=(), editable=(), local=()
            )


def _bare(witness: Witness) -> Witness:
    return replace(witness, libraries=())


def _observation(layout: SessionLayout, room: ProbeContext, level: Level) -> Observation:
    claimed = report.parse(documents.read_bytes(layout.report))
    assert isinstance(claimed, Report)  # noqa: S101
    if level is Level.C2:
        return observe_cuda(room, claimed)
    pristine = source_pristine.open_existing(layout.source, room.manifest.commit)
    interpreter = documents.read(layout.interpreter, Interpreter, kind="interpreter")
    if level is Level.C0:
        native = documents.read(layout.freeze, Freeze, kind="freeze").native
        return observe_imports(room, pristine, interpreter, native)
    observation, log = observe_run(room, pristine, claimed, level, prefix=interpreter.prefix)
    documents.write_bytes(layout.log(level), log)
    return observation
