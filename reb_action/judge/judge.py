"""Judge a trial: a pure function from evidence to verdict, without clock, files or sandbox."""

from dataclasses import replace

from reb_action import __version__
from reb_action.judge.diagnosis.level import diagnose_level
from reb_action.judge.documented import judge_setup
from reb_action.judge.faults import UNENDED, find_interruption, find_run_fault
from reb_action.judge.honesty import audit_report, judge_honesty
from reb_action.judge.imports import unobserved_imports
from reb_action.judge.levels import LEVELS, LevelSpec, spec_of
from reb_action.judge.limit_hits import judge_limit_hits
from reb_action.model.diagnosis import Diagnosis
from reb_action.model.evidence import Evidence
from reb_action.model.manifest import Level, Outcome
from reb_action.model.observation import (
    CudaObservation,
    ImportsObservation,
    Observation,
)
from reb_action.model.quantity import count
from reb_action.model.report import (
    FieldFault,
    Report,
    ReportFault,
    find_blocking_fault,
)
from reb_action.model.verdict import UNASKED, LevelResult, Verdict


def judge(evidence: Evidence) -> Verdict:
    """Return the verdict; equal evidence gives an equal verdict."""
    results = tuple(judge_level(evidence, spec.level) for spec in LEVELS if spec.judge)
    claims = audit_report(evidence, {result.level: result for result in results})
    setup = judge_setup(evidence, results)
    report = evidence.report
    seen = evidence.interpreter
    known = evidence.freeze.known_hooks if evidence.freeze else dict[str, str]()
    return Verdict(
        trial=evidence.trial.id,
        repository=evidence.trial.manifest.repository,
        commit=evidence.trial.manifest.commit,
        agent=evidence.trial.agent,
        attempt=evidence.trial.attempt,
        contestant=evidence.trial.contestant,
        setup=setup,
        reb=__version__,
        agent_run=evidence.agent_run,
        report_fault=None if report is None else find_blocking_fault(report),
        results=(*results, _without_interruption(evidence, judge_honesty(evidence, claims))),
        audit=claims,
        touched=evidence.freeze.touched if evidence.freeze else (),
        survivors=_list_survivors(evidence),
        hooks=tuple(hook for hook in seen.hooks if hook not in known) if seen else (),
        known_hooks=known,
        copies=evidence.freeze.copies if evidence.freeze else (),
        shadowing=evidence.freeze.shadowing if evidence.freeze else (),
        environment=report.environment if isinstance(report, Report) else {},
        field_faults=_field_faults(report),
        prefix_bytes=seen.prefix_bytes if seen else None,
        evidence=evidence.hashes,
        amended=evidence.amended,
    )


def judge_level(evidence: Evidence, level: Level) -> LevelResult:
    """Return the result of one level, equal to the one in the verdict."""
    return _without_interruption(evidence, _judge_level(evidence, level))


def _without_interruption(evidence: Evidence, result: LevelResult) -> LevelResult:
    """Make a failure invalid if the agent was interrupted and not continued; a pass stays one."""
    fault = find_interruption(evidence.agent_run)
    if fault is None or result.outcome not in (Outcome.FAILED, Outcome.BLOCKED):
        return result
    reason = f"not measured: {result.reason}: {fault}"
    return replace(result, outcome=Outcome.INVALID, paper=Outcome.INVALID, reason=reason)


def _judge_level(evidence: Evidence, level: Level) -> LevelResult:
    if level is Level.C5:
        results = {other: judge_level(evidence, other) for other in (Level.C2, Level.C4)}
        return judge_honesty(evidence, audit_report(evidence, results))
    spec = spec_of(level)
    early = _without_observation(spec, evidence)
    if early is None:
        assert spec.judge is not None  # noqa: S101
        seen = _within_sandbox(evidence, evidence.observations[spec.level])
        result = judge_limit_hits(evidence, spec.judge(evidence.trial.manifest, seen), seen)
        return replace(result, diagnosis=_diagnosis(evidence, result, seen))
    outcome, paper, reason = early
    if spec.level is Level.C0:
        return unobserved_imports(evidence.trial.manifest, outcome, reason)
    return LevelResult(level=spec.level, outcome=outcome, paper=paper, reason=reason)


def _within_sandbox(evidence: Evidence, seen: Observation) -> Observation:
    """Ignore GPUs of the machine that the sandbox did not get."""
    if not isinstance(seen, CudaObservation):
        return seen
    return replace(seen, gpus_present=min(seen.gpus_present, evidence.gpus_promised))


def _diagnosis(evidence: Evidence, result: LevelResult, seen: Observation) -> Diagnosis | None:
    if result.outcome is not Outcome.FAILED:
        return None
    imports = evidence.observations.get(Level.C0)
    own = imports.local if isinstance(imports, ImportsObservation) else ()
    has_gpu = result.level is not Level.C1 and evidence.gpus_promised > 0
    log = evidence.logs.get(result.level, "")
    entrypoint = evidence.trial.manifest.entrypoints.get(result.level)
    ranks = entrypoint.ranks if entrypoint else 1
    return diagnose_level(seen, log=log, has_gpu=has_gpu, own_modules=frozenset(own), ranks=ranks)


def _without_observation(
    spec: LevelSpec, evidence: Evidence
) -> tuple[Outcome, Outcome, str] | None:
    manifest = evidence.trial.manifest
    if spec.level in manifest.not_applicable:
        reason = manifest.not_applicable[spec.level]
        return Outcome.NOT_APPLICABLE, Outcome.NOT_APPLICABLE, reason
    if spec.level not in evidence.levels:
        return Outcome.INVALID, Outcome.INVALID, UNASKED
    if spec.level in manifest.paper_only:
        return Outcome.NOT_APPLICABLE, Outcome.FAILED, manifest.paper_only[spec.level]
    fault = find_run_fault(evidence.agent_run, evidence.limits)
    if fault is not None:
        return Outcome.INVALID, Outcome.INVALID, fault
    blocked = _blocked(evidence)
    if blocked is not None:
        return Outcome.BLOCKED, Outcome.BLOCKED, blocked
    invalid = _invalid(spec, evidence)
    return None if invalid is None else (Outcome.INVALID, Outcome.INVALID, invalid)


def _list_survivors(evidence: Evidence) -> tuple[str, ...]:
    """Return what the agent left running, then what the harness's own commands left, each once."""
    runs = (evidence.freeze, evidence.interpreter, *evidence.observations.values())
    names = (name for seen in runs for name in getattr(seen, "survivors", ()))
    return tuple(dict.fromkeys(names))


def _field_faults(report: Report | ReportFault | None) -> tuple[FieldFault, ...]:
    return report.faults if isinstance(report, Report) else ()


def _blocked(evidence: Evidence) -> str | None:
    fault = None if evidence.report is None else find_blocking_fault(evidence.report)
    if fault is not None:
        return fault.message
    return evidence.interpreter.fault if evidence.interpreter else None


def _invalid(spec: LevelSpec, evidence: Evidence) -> str | None:
    needed = spec.gpus_needed(evidence.trial.manifest)
    if evidence.freeze is None:
        if evidence.agent_run is None:
            return UNENDED
        return "the sandbox was never frozen, so nothing could be observed; run the trial again"
    if evidence.interpreter is None and evidence.freeze.report is not None:
        # An older reb blocked every level for any fault of the report.
        return (
            f"not measured: {evidence.freeze.report.message}, to the reb that froze it; run again"
        )
    if evidence.gpus_promised < needed:
        gpus = count(needed, "GPU")
        return f"not measured: {spec.level} needs {gpus}, {evidence.gpus_promised} promised"
    if evidence.interpreter is None or spec.level not in evidence.observations:
        return f"not observed: the probe of {spec.level} did not end; run it again"
    kept = getattr(evidence.observations[spec.level], "invalid", None)
    if kept is not None:
        return f"not measured: {kept}"
    present = getattr(evidence.observations[spec.level], "gpus_present", needed)
    if present < needed:
        return f"the runner promised {count(needed, 'GPU')} and has {present}"
    return None
