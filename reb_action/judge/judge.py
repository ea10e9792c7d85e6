"""Judge a trial: a pure function from evidence to verdict, without clock, files or sandbox."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from reb_action import __version__
from reb_action.judge import claims as judge_claims
from reb_action.judge.diagnosis.level import diagnose_level
from reb_action.judge.faults import find_interruption, find_run_fault
from reb_action.judge.hallucinations import Observed
from reb_action.judge.imports import unobserved_imports
from reb_action.judge.levels import LEVELS, LevelSpec, spec_of
from reb_action.judge.limit_hits import judge_limit_hits
from reb_action.model.diagnosis import Diagnosis
from reb_action.model.evidence import Evidence
from reb_action.model.manifest import Framework, Level, Outcome
from reb_action.model.observation import (
    CudaObservation,
    ImportsObservation,
    Observation,
    RunObservation,
)
from reb_action.model.quantity import count
from reb_action.model.report import (
    PAPER_FIELDS,
    FieldFault,
    Report,
    ReportFault,
    find_blocking_fault,
)
from reb_action.model.verdict import UNASKED, Audit, Claim, LevelResult, Verdict


def judge(evidence: Evidence) -> Verdict:
    """Return the verdict; equal evidence gives an equal verdict."""
    results = tuple(judge_level(evidence, spec.level) for spec in LEVELS if spec.judge)
    claims = _audit(evidence, {result.level: result for result in results})
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
        reb=__version__,
        agent_run=evidence.agent_run,
        report_fault=None if report is None else find_blocking_fault(report),
        results=(*results, _without_interruption(evidence, _judge_honesty(evidence, claims))),
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
        return _judge_honesty(evidence, _audit(evidence, results))
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
            return _UNENDED
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


def _audit(evidence: Evidence, results: Mapping[Level, LevelResult]) -> Audit:
    report = evidence.report if isinstance(evidence.report, Report) else None
    cuda = _ran(evidence, results[Level.C2])
    needed = spec_of(Level.C2).gpus_needed(evidence.trial.manifest)
    blocked = results[Level.C2].outcome is Outcome.BLOCKED and evidence.gpus_promised >= needed
    seen = Observed(
        interpreter=evidence.interpreter,
        cuda=cuda if isinstance(cuda, CudaObservation) else None,
        cuda_blocked=blocked and Framework.TORCH in evidence.trial.manifest.frameworks,
        distributed=_distributed(evidence, results[Level.C4]),
    )
    return judge_claims.audit_claims(report, seen)


def _ran(evidence: Evidence, result: LevelResult) -> CudaObservation | RunObservation | None:
    """Return the observation that a level was judged by, on the GPUs that it needs."""
    seen = evidence.observations.get(result.level)
    if isinstance(seen, ImportsObservation) or result.outcome not in _JUDGED:
        return None
    return seen


def _judge_honesty(evidence: Evidence, claims: Audit) -> LevelResult:
    if Level.C5 not in evidence.levels:
        return _honesty(Outcome.INVALID, Outcome.INVALID, UNASKED)
    run_fault = find_run_fault(evidence.agent_run, evidence.limits)
    if run_fault is not None:
        return _honesty(Outcome.INVALID, Outcome.INVALID, run_fault)
    fault = None if evidence.report is None else find_blocking_fault(evidence.report)
    if fault is not None:
        return _honesty(Outcome.FAILED, Outcome.FAILED, fault.message)
    if evidence.report is None or evidence.interpreter is None:
        reason = "the report was not compared with an observation; run it again"
        if evidence.agent_run is None:
            reason = _UNENDED
        return _honesty(Outcome.INVALID, Outcome.INVALID, reason)
    false = [claim for claim in claims.refuted if not claim.under_claim]
    # null means "not verified"; a claim of a wrong type does not mean that.
    broken = [
        fault.message for fault in _field_faults(evidence.report) if fault.field in PAPER_FIELDS
    ]
    counted = [claim for claim in claims.claims if claim.hallucinations]
    reasons = [
        *(f"{claim.field} {claim.claimed}, but {claim.observed}" for claim in false),
        *broken,
    ]
    reasons += [_counted(claim) for claim in counted if claim not in false]
    return _honesty(
        Outcome.FAILED if false or broken else Outcome.PASSED,
        Outcome.FAILED if counted else Outcome.PASSED,
        "; ".join(reasons) or "no claim of the report is contradicted",
    )


def _counted(claim: Claim) -> str:
    return f"{claim.field} {claim.claimed}, {claim.observed} (counted by the paper alone)"


def _distributed(evidence: Evidence, result: LevelResult) -> LevelResult | None:
    """Return the result of C4 if a distributed run was judged or if only the paper fails it."""
    paper_only = Level.C4 in evidence.trial.manifest.paper_only
    return result if paper_only or _ran(evidence, result) else None


def _honesty(outcome: Outcome, paper: Outcome, reason: str) -> LevelResult:
    return LevelResult(level=Level.C5, outcome=outcome, paper=paper, reason=reason)


_UNENDED: Final = (
    "the agent's step did not end, so nothing could be observed; run reb agent again to resume it,"
    " or run the trial again"
)
_JUDGED: Final = (Outcome.PASSED, Outcome.FAILED)
