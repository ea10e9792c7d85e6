"""Observes one level of a trial and judges it."""

import hashlib
import time
from dataclasses import replace

from reb_action import documents
from reb_action.errors import SandboxError, ToolchainError, UnendedError, UsageError
from reb_action.judge.judge import judge_level
from reb_action.judge.levels import spec_of
from reb_action.model.evidence import Evidence
from reb_action.model.limits import C0_SECONDS, LimitHits
from reb_action.model.manifest import Level
from reb_action.model.observation import (
    CudaObservation,
    ImportsObservation,
    Observation,
    RunObservation,
    Witness,
)
from reb_action.model.progress import Progress
from reb_action.model.report import Report
from reb_action.model.verdict import LevelResult
from reb_action.probe.context import ProbeContext
from reb_action.probe.cuda import observe_cuda
from reb_action.probe.imports import Reported, observe_imports
from reb_action.probe.run import observe_run
from reb_action.probe.survey import describe_change, look_at_interpreter
from reb_action.sandbox import select
from reb_action.sandbox.protocol import Sandbox
from reb_action.session import evidence as session_evidence
from reb_action.session import reserve, secrets, state
from reb_action.session.layout import SessionLayout
from reb_action.session.state import Phase, Session
from reb_action.source import pristine as source_pristine
from reb_action.trial.fault import FULL_DISK
from reb_action.trial.freeze import freeze


def probe_level(layout: SessionLayout, level: Level, *, tell: Progress) -> LevelResult:
    """Observe one level if the evidence allows it, and return its result."""
    with state.at_work(layout) as session:
        _demand_agent(layout, session)
        if session.phase is not Phase.FROZEN:
            freeze(layout, session, select.attach(session.spec, session.handle), tell=tell)
        evidence = session_evidence.read(layout)
        if _is_observable(evidence, level):
            tell(f"observing {level}")
            sandbox = select.attach(session.spec, session.handle)
            evidence = _observe(layout, sandbox, evidence, level)
    return judge_level(evidence, level)


def _demand_agent(layout: SessionLayout, session: Session) -> None:
    """Refuse to measure before the agent has finished: the agent would get the failure."""
    if session.phase in (Phase.STARTING, Phase.STARTED):
        raise UsageError(
            f"the agent has not run yet in {layout.folder}; run reb agent {layout.folder} first"
        )
    if session.phase is Phase.AGENT:
        raise UsageError(
            f"the agent in {layout.folder} was interrupted; resume it with reb agent"
            f" {layout.folder}"
        )


def _is_observable(evidence: Evidence, level: Level) -> bool:
    """Return whether report, interpreter, manifest and GPUs allow an observation of a level."""
    if not isinstance(evidence.report, Report) or evidence.interpreter is None:
        return False
    manifest = evidence.trial.manifest
    has_probe = level in (Level.C0, Level.C2) and level not in manifest.not_applicable
    return (
        evidence.interpreter.fault is None
        and (has_probe or level in manifest.entrypoints)
        and evidence.gpus_promised >= spec_of(level).gpus_needed(manifest)
    )


def _observe(layout: SessionLayout, sandbox: Sandbox, evidence: Evidence, level: Level) -> Evidence:
    """Write the observation of a level, and return the evidence with it."""
    context = ProbeContext(
        sandbox=sandbox,
        mount=layout.mount,
        manifest=evidence.trial.manifest,
        hidden=secrets.values(layout),
        # The runs have the manifest's time limits.
        ends_at=time.monotonic() + C0_SECONDS if level is Level.C0 else None,
    )
    log = None
    try:
        before = sandbox.find_hits()
        observation, log = _observation(layout, context, evidence, level)
        observation = _with_hits(observation, sandbox.find_hits().since(before))
    except (SandboxError, ToolchainError) as error:
        observation = _unmeasured(level, sandbox, str(error))
        if level is Level.C0 or not isinstance(error, UnendedError):
            _keep(layout, level, observation, log)
            raise
    except OSError as error:
        if not reserve.is_disk_full(error):
            raise
        observation = _unmeasured(level, sandbox, FULL_DISK)
    observation = limit_size(observation, session_evidence.kind_of(level)[1])
    logs = _keep(layout, level, observation, log)
    observations = {**evidence.observations, level: observation}
    return replace(evidence, observations=observations, logs={**evidence.logs, **logs})


def _keep(
    layout: SessionLayout, level: Level, observation: Observation, log: bytes | None
) -> dict[Level, str]:
    """Write the observation of a level and the log of its run; return the excerpt of the log."""
    with reserve.lend(layout):
        if log is not None:
            documents.write_bytes(layout.log(level), log)
        kind = session_evidence.kind_of(level)[1]
        documents.write(layout.observation(level), observation, kind=kind)
    return {} if log is None else {level: session_evidence.excerpt(layout.log(level))}


def _observation(
    layout: SessionLayout, context: ProbeContext, evidence: Evidence, level: Level
) -> tuple[Observation, bytes | None]:
    """Return the observation of a level and, for a run, its log."""
    report, interpreter, frozen = evidence.report, evidence.interpreter, evidence.freeze
    assert isinstance(report, Report) and interpreter and frozen  # noqa: S101, PT018
    if level in (Level.C0, Level.C2):
        now = look_at_interpreter(context, report.python_path)
        change = describe_change(report.python_path, interpreter.identity, now)
        if change is not None:
            return replace(
                _unmeasured(level, context.sandbox, change), invalid=None, fault=change
            ), None
    if level is Level.C2:
        return observe_cuda(context, report), None
    pristine = source_pristine.open_existing(layout.source, context.manifest.commit)
    if level is Level.C0:
        reported = Reported(report=report, interpreter=interpreter)
        return observe_imports(context, pristine, reported, frozen.native), None
    return observe_run(context, pristine, report, level, interpreter=interpreter)


def _with_hits(observation: Observation, hits: LimitHits) -> Observation:
    """Add the limits of the sandbox that were hit; none is written as absent."""
    if not isinstance(observation, ImportsObservation):
        hits = replace(hits, shm_full=observation.witness.shm_full)
    return observation if hits == LimitHits() else replace(observation, hits=hits)


def _unmeasured(level: Level, sandbox: Sandbox, why: str) -> Observation:
    """Return the observation of a level that could not be measured, with no run to blame."""
    witness = Witness(samples=0, peak_processes=0, cpu_seconds=0.0, peak_memory_mib=0)
    present = sandbox.spec.gpus
    if level is Level.C0:
        return ImportsObservation(
            total=0,
            missing=(),
            third_party=(),
            stub_only=(),
            files=0,
            pyright="",
            seconds=0.0,
            invalid=why,
        )
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


def limit_size(observation: Observation, kind: str) -> Observation:
    """Return an observation that can be a document; one that cannot loses its details."""
    refusal = documents.find_refusal(observation, kind=kind)
    if refusal is None:
        return observation
    # The environment caused it, so the level fails, and the verdict stays readable.
    fault = f"the observations of the environment could not be stored: {refusal}"
    bare = replace(observation, fault=fault)
    match bare:
        case RunObservation():
            witness = _bare(bare.witness)
            cut = replace(bare, proofs=(), restored=(), changed=(), ranks=(), witness=witness)
            return replace(cut, decoy=None, stages=())
        case CudaObservation():
            return replace(bare, frameworks=(), witness=_bare(bare.witness))
        case ImportsObservation():
            bare = replace(bare, missing=(), third_party=(), stub_only=(), hollow=(), editable=())
            return replace(bare, local=(), optional=(), absent=None)


def _bare(witness: Witness) -> Witness:
    return replace(witness, libraries=())
