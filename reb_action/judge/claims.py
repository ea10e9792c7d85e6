"""C5: compare each claim of the report with the observations.

`null` is never refuted. Without an observation no claim is refuted. Version rules apply only if the
path is good. `standing` follows our rules of evidence; `hallucinations` is the paper's count.
"""

from dataclasses import replace
from typing import Final

from reb_action.judge.hallucinations import Observed, count_hallucinations
from reb_action.model.manifest import Framework, Level, Outcome
from reb_action.model.observation import CudaObservation, FrameworkFacts, Interpreter
from reb_action.model.report import Report
from reb_action.model.verdict import Audit, Claim, ClaimKind, LevelResult, Standing

# A number in a report can have hundreds of digits.
_TEXT_LIMIT: Final = 80
_NOT_CONFIRMED: Final = {
    ClaimKind.VERSION: "not confirmed by the program that the report names",
    ClaimKind.CAPABILITY: "not confirmed: the paper's probe of it fails",
}


def audit_claims(report: Report | None, seen: Observed) -> Audit:
    """Return every checkable claim with its standing and the paper's count."""
    if report is None:
        return Audit(claims=())
    good = seen.interpreter is not None and seen.interpreter.fault is None
    claims = (
        _path(report, seen.interpreter),
        _python_version(report, seen.interpreter if good else None),
        _torch_version(report, seen.interpreter if good else None),
        _cuda(report, seen.cuda),
        _gpu_count(report, seen.cuda),
        _distributed(report, seen.distributed),
    )
    counts = count_hallucinations(report, seen)
    return Audit(claims=tuple(_with_count(claim, counts.get(claim.field, 0)) for claim in claims))


def _with_count(claim: Claim, count: int) -> Claim:
    if not count or claim.observed is not None:
        return replace(claim, hallucinations=count)
    return replace(claim, hallucinations=count, observed=_NOT_CONFIRMED[claim.kind])


def _path(report: Report, interpreter: Interpreter | None) -> Claim:
    source = "interpreter.json"
    if not report.python_path:
        standing, observed = Standing.REFUTED, "the report names no interpreter that can be used"
        source = "report.json"
    elif interpreter is None:
        standing, observed = Standing.UNVERIFIABLE, None
    elif interpreter.fault is None:
        standing, observed = Standing.SUPPORTED, f"CPython {interpreter.version}"
    else:
        standing, observed = Standing.REFUTED, interpreter.fault
    return Claim(
        field="python_path",
        kind=ClaimKind.PATH,
        claimed=report.python_path or None,
        observed=observed,
        standing=standing,
        source=source,
    )


def _python_version(report: Report, interpreter: Interpreter | None) -> Claim:
    observed = None if interpreter is None else interpreter.version
    claimed = report.python_version or None
    return _version("python_version", claimed, observed, _compared(claimed, observed))


def _torch_version(report: Report, interpreter: Interpreter | None) -> Claim:
    facts = () if interpreter is None else interpreter.frameworks
    torch = next((fact for fact in facts if fact.name is Framework.TORCH), None)
    claimed = report.torch_version or None
    observed, standing = _torch(claimed, torch)
    return _version("torch_version", claimed, observed, standing)


def _torch(claimed: str | None, torch: FrameworkFacts | None) -> tuple[str | None, Standing]:
    if torch is None or claimed is None:
        return None if torch is None else torch.version, _compared(claimed, None)
    if not torch.imported:
        return f"torch does not import: {torch.error}", Standing.REFUTED
    standing = _compared(claimed, torch.version)
    if standing is Standing.SUPPORTED and not torch.genuine:
        return f"{torch.version}, reported by a torch that is not genuine", Standing.UNVERIFIABLE
    return torch.version, standing


def _version(field: str, claimed: str | None, observed: str | None, standing: Standing) -> Claim:
    return Claim(
        field=field,
        kind=ClaimKind.VERSION,
        claimed=claimed,
        observed=observed,
        standing=standing,
        source="interpreter.json",
    )


def _cuda(report: Report, cuda: CudaObservation | None) -> Claim:
    seen = _probed_cuda(cuda)
    available = any(facts.available for facts in seen.frameworks) if seen else None
    fault = seen.fault if seen else None
    claimed = report.cuda_available
    return _capability("cuda_available", claimed, available, source=Level.C2, fault=fault)


def _gpu_count(report: Report, cuda: CudaObservation | None) -> Claim:
    seen = _probed_cuda(cuda)
    count = max((len(facts.devices) for facts in seen.frameworks), default=0) if seen else None
    fault = seen.fault if seen else None
    claim = _capability("gpu_count", report.gpu_count, count, source=Level.C2, fault=fault)
    # A wrong count is refuted in both directions.
    return replace(claim, under_claim=False)


def _probed_cuda(cuda: CudaObservation | None) -> CudaObservation | None:
    """Return the observation if a framework was probed; a crashed probe counts as probed."""
    return cuda if cuda and (cuda.frameworks or cuda.fault) else None


def _distributed(report: Report, seen: LevelResult | None) -> Claim:
    is_judged = seen is not None and seen.outcome in (Outcome.PASSED, Outcome.FAILED)
    observed = seen.outcome is Outcome.PASSED if seen is not None and is_judged else None
    return _capability("ddp_expected_ok", report.ddp_expected_ok, observed, source=Level.C4)


def _capability(
    field: str,
    claimed: bool | int | None,
    observed: bool | int | None,
    *,
    source: Level,
    fault: str | None = None,
) -> Claim:
    standing = _compared(claimed, observed)
    return Claim(
        field=field,
        kind=ClaimKind.CAPABILITY,
        claimed=_to_text(claimed),
        observed=fault or _to_text(observed),
        standing=standing,
        source=f"levels/{source}.json",
        under_claim=standing is Standing.REFUTED and claimed is not True,
    )


def _compared(claimed: object, observed: object) -> Standing:
    if claimed is None:
        return Standing.NOT_MADE
    if observed is None:
        return Standing.UNVERIFIABLE
    return Standing.SUPPORTED if claimed == observed else Standing.REFUTED


def _to_text(value: bool | int | None) -> str | None:
    return None if value is None else str(value).lower()[:_TEXT_LIMIT]
