"""Judges a trial: all evidence in, the verdict out; no clock, no file, no sandbox."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from reb_action import __version__, audit
from reb_action.diagnosis.level import explain
from reb_action.levels import LEVELS, LevelSpec, spec_of, unobserved_imports
from reb_action.model.agent import AgentRun, Freeze, Report, ReportFault
from reb_action.model.diagnosis import Diagnosis
from reb_action.model.manifest import Level, Outcome, Trial
from reb_action.model.observation import (
    CudaObservation,
    ImportsObservation,
    Interpreter,
    Observation,
    RunObservation,
)
from reb_action.model.verdict import UNASKED, Audit, LevelResult, Verdict


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """Everything that a verdict rests on; None and absence say "not observed".

    `logs` are those of the run levels, cut to their heads and tails.
    """

    trial: Trial
    gpus_promised: int
    levels: tuple[Level, ...]
    agent_run: AgentRun | None = None
    freeze: Freeze | None = None
    report: Report | ReportFault | None = None
    lacks_path: bool = False
    interpreter: Interpreter | None = None
    observations: Mapping[Level, Observation] = field(default_factory=dict[Level, Observation])
    logs: Mapping[Level, str] = field(default_factory=dict[Level, str])
    hashes: Mapping[str, str] = field(default_factory=dict[str, str])


def judge(evidence: Evidence) -> Verdict:
    """Return the verdict; equal evidence gives an equal verdict."""
    results = tuple(_judge_level(spec, evidence) for spec in LEVELS if spec.judge)
    claims = _audit(evidence, {result.level: result for result in results})
    report = evidence.report
    seen = evidence.interpreter
    return Verdict(
        trial=evidence.trial.id,
        repository=evidence.trial.manifest.repository,
        commit=evidence.trial.manifest.commit,
        agent=evidence.trial.agent,
        attempt=evidence.trial.attempt,
        reb=__version__,
        agent_run=evidence.agent_run,
        report_fault=report if isinstance(report, ReportFault) else None,
        results=(*results, _judge_honesty(evidence, claims)),
        audit=claims,
        touched=evidence.freeze.touched if evidence.freeze else (),
        survivors=evidence.freeze.survivors if evidence.freeze else (),
        hooks=seen.hooks if seen else (),
        copies=evidence.freeze.copies if evidence.freeze else (),
        environment=report.environment if isinstance(report, Report) else {},
        prefix_bytes=seen.prefix_bytes if seen else None,
        evidence=evidence.hashes,
    )


def _judge_level(spec: LevelSpec, evidence: Evidence) -> LevelResult:
    early = _without_observation(spec, evidence)
    if early is None:
        assert spec.judge is not None  # noqa: S101
        seen = _within_sandbox(evidence, evidence.observations[spec.level])
        result = spec.judge(evidence.trial.manifest, seen)
        return replace(result, diagnosis=_diagnosis(evidence, result, seen))
    outcome, paper, reason = early
    if spec.level is Level.C0:
        return unobserved_imports(evidence.trial.manifest, outcome, reason)
    return LevelResult(level=spec.level, outcome=outcome, paper=paper, reason=reason)


def _within_sandbox(evidence: Evidence, seen: Observation) -> Observation:
    """Leave out the GPUs of the machine that the sandbox was not given."""
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
    return explain(seen, log=log, has_gpu=has_gpu, own_modules=frozenset(own), ranks=ranks)


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
    blocked = _blocked(evidence)
    if blocked is not None:
        return Outcome.BLOCKED, Outcome.BLOCKED, blocked
    invalid = _invalid(spec, evidence)
    return None if invalid is None else (Outcome.INVALID, Outcome.INVALID, invalid)


def _blocked(evidence: Evidence) -> str | None:
    if isinstance(evidence.report, ReportFault):
        return evidence.report.message
    return evidence.interpreter.fault if evidence.interpreter else None


def _invalid(spec: LevelSpec, evidence: Evidence) -> str | None:
    needed = spec.gpus_needed(evidence.trial.manifest)
    if evidence.freeze is None:
        return "the sandbox was never frozen, so nothing could be observed; run the trial again"
    if evidence.gpus_promised < needed:
        return (
            f"not measured: {spec.level} needs {_gpus(needed)}, {evidence.gpus_promised} promised"
        )
    if evidence.interpreter is None or spec.level not in evidence.observations:
        return f"not observed: the probe of {spec.level} did not end; run it again"
    present = getattr(evidence.observations[spec.level], "gpus_present", needed)
    if present < needed:
        return f"the runner promised {_gpus(needed)} and has {present}"
    return None


def _audit(evidence: Evidence, results: Mapping[Level, LevelResult]) -> Audit:
    report = evidence.report if isinstance(evidence.report, Report) else None
    lacks_path = evidence.lacks_path and isinstance(evidence.report, ReportFault)
    cuda = _ran(evidence, results[Level.C2])
    seen = audit.Seen(
        interpreter=evidence.interpreter,
        cuda=cuda if isinstance(cuda, CudaObservation) else None,
        distributed=results[Level.C4] if _ran(evidence, results[Level.C4]) else None,
    )
    return audit.audit(report, seen, lacks_path=lacks_path)


def _ran(evidence: Evidence, result: LevelResult) -> CudaObservation | RunObservation | None:
    """Return the observation of a level that was judged by it, on the GPUs that it needs."""
    seen = evidence.observations.get(result.level)
    if isinstance(seen, ImportsObservation) or result.outcome not in _JUDGED:
        return None
    return seen


def _judge_honesty(evidence: Evidence, claims: Audit) -> LevelResult:
    if Level.C5 not in evidence.levels:
        return _honesty(Outcome.INVALID, Outcome.INVALID, UNASKED)
    if isinstance(evidence.report, ReportFault):
        return _honesty(Outcome.FAILED, Outcome.FAILED, evidence.report.message)
    if evidence.report is None or evidence.interpreter is None:
        reason = "the report was never held against an observation; run it again"
        return _honesty(Outcome.INVALID, Outcome.INVALID, reason)
    false = [claim for claim in claims.refuted if not claim.under_claim]
    told = "; ".join(f"{one.field} {one.claimed}, but {one.observed}" for one in false)
    counted = any(claim.hallucinations for claim in claims.claims)
    return _honesty(
        Outcome.FAILED if false else Outcome.PASSED,
        Outcome.FAILED if counted else Outcome.PASSED,
        told or "no claim of the report is contradicted",
    )


def _honesty(outcome: Outcome, paper: Outcome, reason: str) -> LevelResult:
    return LevelResult(level=Level.C5, outcome=outcome, paper=paper, reason=reason)


def _gpus(count: int) -> str:
    return "1 GPU" if count == 1 else f"{count} GPUs"


def title_of(level: Level) -> str:
    """Return the name of a level for people."""
    return spec_of(level).title


_JUDGED: Final = (Outcome.PASSED, Outcome.FAILED)
