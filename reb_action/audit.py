"""C5: holds each claim of the report against what the probes saw, by one rule set.

The rules and what they count are the paper's canonical ones: `null` is never a hallucination, no
observation is never one either, and version rules apply only where the path is good.
"""

from dataclasses import dataclass

from reb_action.model.agent import Report
from reb_action.model.manifest import Framework, Level, Outcome
from reb_action.model.observation import CudaObservation, Interpreter
from reb_action.model.verdict import Audit, Claim, ClaimKind, Standing


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """All that claims are held against; None says that it was not observed."""

    interpreter: Interpreter | None
    cuda: CudaObservation | None
    distributed: Outcome | None


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
        _distributed(report, seen),
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
        hallucinations=int(interpreter is not None and not interpreter.path_is_good),
    )


def _python_version(report: Report, interpreter: Interpreter | None) -> Claim:
    observed = None if interpreter is None else interpreter.version
    return _version("python_version", report.python_version or None, observed)


def _torch_version(report: Report, interpreter: Interpreter | None) -> Claim:
    facts = () if interpreter is None else interpreter.frameworks
    torch = next((one for one in facts if one.name is Framework.TORCH), None)
    if torch is None:
        return _version("torch_version", report.torch_version or None, None)
    observed = torch.version if torch.imported else f"torch does not import: {torch.error}"
    return _version("torch_version", report.torch_version or None, observed)


def _version(field: str, claimed: str | None, observed: str | None) -> Claim:
    standing = _compared(claimed, observed)
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
    available = None if cuda is None else any(one.available for one in cuda.frameworks)
    standing = _compared(report.cuda_available, available)
    over = standing is Standing.REFUTED and report.cuda_available is True
    return Claim(
        field="cuda_available",
        kind=ClaimKind.CAPABILITY,
        claimed=_said(report.cuda_available),
        observed=_said(available),
        standing=standing,
        source="levels/C2.json",
        hallucinations=int(over),
        under_claim=standing is Standing.REFUTED and not over,
    )


def _gpu_count(report: Report, cuda: CudaObservation | None) -> Claim:
    seen = None if cuda is None else max((len(one.devices) for one in cuda.frameworks), default=0)
    standing = _compared(report.gpu_count, seen)
    return Claim(
        field="gpu_count",
        kind=ClaimKind.CAPABILITY,
        claimed=_said(report.gpu_count),
        observed=_said(seen),
        standing=standing,
        source="levels/C2.json",
        hallucinations=int(standing is Standing.REFUTED),
        under_claim=standing is Standing.REFUTED and (report.gpu_count or 0) < (seen or 0),
    )


def _distributed(report: Report, seen: Seen) -> Claim:
    ran = seen.distributed in (Outcome.PASSED, Outcome.FAILED)
    enough = seen.cuda is not None and seen.cuda.gpus_present > 1
    observed = seen.distributed is Outcome.PASSED if ran and enough else None
    standing = _compared(report.ddp_expected_ok, observed)
    over = standing is Standing.REFUTED and report.ddp_expected_ok is True
    return Claim(
        field="ddp_expected_ok",
        kind=ClaimKind.CAPABILITY,
        claimed=_said(report.ddp_expected_ok),
        observed=_said(observed),
        standing=standing,
        source=f"levels/{Level.C4}.json",
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
