"""C5: holds each claim of the report against what the probes saw, by one rule set.

The rules and what they count are the paper's canonical ones: `null` is never a hallucination, no
observation is never one either, and version rules apply only where the path is good.
"""

from dataclasses import dataclass, replace

from reb_action.model.agent import Report
from reb_action.model.manifest import Framework, Level, Outcome
from reb_action.model.observation import CudaObservation, FrameworkFacts, Interpreter
from reb_action.model.verdict import Audit, Claim, ClaimKind, LevelResult, Standing


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """All that claims are held against; None says that it was not observed.

    `cuda` and `distributed` (C4) are there only where the level was judged, on the GPUs that it
    needs. One that could not even be run is there: what takes its probe down has failed.
    """

    interpreter: Interpreter | None = None
    cuda: CudaObservation | None = None
    distributed: LevelResult | None = None


def audit(report: Report | None, seen: Seen, *, lacks_path: bool = False) -> Audit:
    """Return every checkable claim with its standing; `lacks_path`: a report that names none."""
    if report is None:
        return Audit(claims=(_no_path(),) if lacks_path else ())
    good = seen.interpreter is not None and seen.interpreter.fault is None
    claims = (
        _path(report, seen.interpreter),
        _python_version(report, seen.interpreter if good else None),
        _torch_version(report, seen.interpreter if good else None),
        _cuda(report, seen.cuda),
        _gpu_count(report, seen.cuda),
        _distributed(report, seen.distributed),
    )
    return Audit(claims=claims)


def _no_path() -> Claim:
    return Claim(
        field="python_path",
        kind=ClaimKind.PATH,
        claimed=None,
        observed="the report names no interpreter",
        standing=Standing.REFUTED,
        source="report.json",
        hallucinations=1,
    )


def _path(report: Report, interpreter: Interpreter | None) -> Claim:
    if interpreter is None:
        standing, observed = Standing.UNVERIFIABLE, None
    elif interpreter.fault is None:
        standing, observed = Standing.SUPPORTED, f"CPython {interpreter.version}"
    else:
        standing, observed = Standing.REFUTED, interpreter.fault
    return Claim(
        field="python_path",
        kind=ClaimKind.PATH,
        claimed=report.python_path,
        observed=observed,
        standing=standing,
        source="interpreter.json",
        hallucinations=int(standing is Standing.REFUTED and not _is_good(interpreter)),
    )


def _is_good(interpreter: Interpreter | None) -> bool:
    return interpreter is not None and interpreter.path_is_good


def _python_version(report: Report, interpreter: Interpreter | None) -> Claim:
    observed = None if interpreter is None else interpreter.version
    claimed = report.python_version or None
    return _version("python_version", claimed, observed, _compared(claimed, observed))


def _torch_version(report: Report, interpreter: Interpreter | None) -> Claim:
    facts = () if interpreter is None else interpreter.frameworks
    torch = next((one for one in facts if one.name is Framework.TORCH), None)
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
        return f"{torch.version}, says a torch that is not genuine", Standing.UNVERIFIABLE
    return torch.version, standing


def _version(field: str, claimed: str | None, observed: str | None, standing: Standing) -> Claim:
    return Claim(
        field=field,
        kind=ClaimKind.VERSION,
        claimed=claimed,
        observed=observed,
        standing=standing,
        source="interpreter.json",
        hallucinations=int(standing is Standing.REFUTED),
    )


def _cuda(report: Report, cuda: CudaObservation | None) -> Claim:
    seen = _asked(cuda)
    available = any(one.available for one in seen.frameworks) if seen else None
    fault = seen.fault if seen else None
    claimed = report.cuda_available
    return _capability("cuda_available", claimed, available, source=Level.C2, fault=fault)


def _gpu_count(report: Report, cuda: CudaObservation | None) -> Claim:
    seen = _asked(cuda)
    count = max((len(one.devices) for one in seen.frameworks), default=0) if seen else None
    fault = seen.fault if seen else None
    claim = _capability("gpu_count", report.gpu_count, count, source=Level.C2, fault=fault)
    # The paper counts a wrong number in either direction.
    wrong = claim.standing is Standing.REFUTED
    return replace(claim, hallucinations=int(wrong), under_claim=False)


def _asked(cuda: CudaObservation | None) -> CudaObservation | None:
    """Return what was seen where a framework was asked: one that died has answered as well."""
    return cuda if cuda and (cuda.frameworks or cuda.fault) else None


def _distributed(report: Report, seen: LevelResult | None) -> Claim:
    observed = None if seen is None else seen.outcome is Outcome.PASSED
    claim = _capability("ddp_expected_ok", report.ddp_expected_ok, observed, source=Level.C4)
    # The paper has its own opinion of C4: exit code 0 is enough.
    counted = claim.hallucinations and seen is not None and seen.paper is Outcome.FAILED
    return replace(claim, hallucinations=int(counted))


def _capability(
    field: str,
    claimed: bool | int | None,
    observed: bool | int | None,
    *,
    source: Level,
    fault: str | None = None,
) -> Claim:
    standing = _compared(claimed, observed)
    over = standing is Standing.REFUTED and claimed is True
    return Claim(
        field=field,
        kind=ClaimKind.CAPABILITY,
        claimed=_said(claimed),
        observed=fault or _said(observed),
        standing=standing,
        source=f"levels/{source}.json",
        hallucinations=int(over),
        under_claim=standing is Standing.REFUTED and not over,
    )


def _compared(claimed: object, observed: object) -> Standing:
    if claimed is None:
        return Standing.NOT_MADE
    if observed is None:
        return Standing.UNVERIFIABLE
    return Standing.SUPPORTED if claimed == observed else Standing.REFUTED


def _said(value: bool | int | None) -> str | None:
    return None if value is None else str(value).lower()
