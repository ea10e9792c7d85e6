"""C5: compares the claims of the report with the observations of the other levels."""

from collections.abc import Mapping
from typing import Final

from reb_action.judge import claims as judge_claims
from reb_action.judge.faults import UNENDED, find_run_fault
from reb_action.judge.hallucinations import Observed
from reb_action.judge.levels import spec_of
from reb_action.model.evidence import Evidence
from reb_action.model.manifest import Framework, Level, Outcome
from reb_action.model.observation import (
    CudaObservation,
    ImportsObservation,
    RunObservation,
)
from reb_action.model.report import (
    PAPER_FIELDS,
    Report,
    find_blocking_fault,
)
from reb_action.model.verdict import UNASKED, Audit, Claim, LevelResult

_JUDGED: Final = (Outcome.PASSED, Outcome.FAILED)


def audit_report(evidence: Evidence, results: Mapping[Level, LevelResult]) -> Audit:
    """Compare the claims of the report with the observations of C2 and C4."""
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


def judge_honesty(evidence: Evidence, claims: Audit) -> LevelResult:
    """Return the result of C5: failed by a false claim or a field of a wrong type."""
    unjudged = _find_unjudged(evidence)
    if unjudged is not None:
        outcome, reason = unjudged
        return LevelResult(level=Level.C5, outcome=outcome, paper=outcome, reason=reason)
    report = evidence.report
    faults = report.faults if isinstance(report, Report) else ()
    # null means "not verified"; a claim of a wrong type does not mean that.
    broken = [fault.message for fault in faults if fault.field in PAPER_FIELDS]
    false = [claim for claim in claims.refuted if not claim.under_claim]
    counted = [claim for claim in claims.claims if claim.hallucinations]
    reasons = [
        *(f"{claim.field} {claim.claimed}, but {claim.observed}" for claim in false),
        *broken,
        *(_describe_counted(claim) for claim in counted if claim not in false),
    ]
    return LevelResult(
        level=Level.C5,
        outcome=Outcome.FAILED if false or broken else Outcome.PASSED,
        paper=Outcome.FAILED if counted else Outcome.PASSED,
        reason="; ".join(reasons) or "no claim of the report is contradicted",
    )


def _find_unjudged(evidence: Evidence) -> tuple[Outcome, str] | None:
    """Return the outcome and its reason if the claims cannot be compared; None if they can."""
    if Level.C5 not in evidence.levels:
        return Outcome.INVALID, UNASKED
    run_fault = find_run_fault(evidence.agent_run, evidence.limits)
    if run_fault is not None:
        return Outcome.INVALID, run_fault
    fault = None if evidence.report is None else find_blocking_fault(evidence.report)
    if fault is not None:
        return Outcome.FAILED, fault.message
    if evidence.report is not None and evidence.interpreter is not None:
        return None
    if evidence.agent_run is None:
        return Outcome.INVALID, UNENDED
    return Outcome.INVALID, "the report was not compared with an observation; run it again"


def _ran(evidence: Evidence, result: LevelResult) -> CudaObservation | RunObservation | None:
    """Return the observation that a level was judged by, on the GPUs that it needs."""
    seen = evidence.observations.get(result.level)
    if isinstance(seen, ImportsObservation) or result.outcome not in _JUDGED:
        return None
    return seen


def _distributed(evidence: Evidence, result: LevelResult) -> LevelResult | None:
    """Return the result of C4 if a distributed run was judged or if only the paper fails it."""
    paper_only = Level.C4 in evidence.trial.manifest.paper_only
    return result if paper_only or _ran(evidence, result) else None


def _describe_counted(claim: Claim) -> str:
    return f"{claim.field} {claim.claimed}, {claim.observed} (counted by the paper alone)"
