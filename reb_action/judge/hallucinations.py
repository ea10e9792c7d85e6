"""Count hallucinations by the paper's formula, over what its own validators would observe.

The paper trusts any program that the report names, so a wrapper script counts as a Python. It also
counts a GPU claim that this program does not confirm, even if the program cannot run. Our own rules
of evidence (`claims.py`) call both unverifiable. `docs/c5.md` compares this count with the answers
of the paper's validators.
"""

from dataclasses import dataclass
from typing import Final

from reb_action.model.manifest import Framework, Outcome
from reb_action.model.observation import CudaObservation, Interpreter
from reb_action.model.report import Report
from reb_action.model.verdict import LevelResult

# With fewer GPUs the paper calls a distributed run inconclusive and does not count it.
_LEAST_GPUS: Final = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class Observed:
    """The observations that claims are compared with; None means "not observed".

    `cuda` is set only if C2 was judged by it, on the GPUs that it needs; a crashed probe counts as
    a failed C2. `cuda_blocked`: C2 had its GPUs and was blocked by the interpreter. `distributed`
    is the result of C4 with any outcome.
    """

    interpreter: Interpreter | None = None
    cuda: CudaObservation | None = None
    cuda_blocked: bool = False
    distributed: LevelResult | None = None


def count_hallucinations(report: Report, seen: Observed) -> dict[str, int]:
    """Return the paper's count for each claim of a report, by field: 0 or 1."""
    counts = {
        "python_path": _path_is_wrong(report, seen.interpreter),
        **_versions(report, seen.interpreter),
        **_capabilities(report, seen),
    }
    return {field: int(wrong) for field, wrong in counts.items()}


def _path_is_wrong(report: Report, interpreter: Interpreter | None) -> bool:
    if interpreter is None or not report.python_path:
        return not report.python_path
    return _cannot_run(interpreter)


def _cannot_run(interpreter: Interpreter) -> bool:
    return interpreter.fault is not None and not interpreter.path_is_good


def _versions(report: Report, interpreter: Interpreter | None) -> dict[str, bool]:
    observed = _observed_versions(interpreter)
    if observed is None:
        return {}
    claims = {"python_version": report.python_version, "torch_version": report.torch_version}
    # An empty text makes no claim.
    return {
        field: bool(claim) and claim != observed[field]
        for field, claim in claims.items()
        if field in observed
    }


def _observed_versions(interpreter: Interpreter | None) -> dict[str, str | None] | None:
    """Return the versions that a runnable program reports; torch only if that was asked."""
    if interpreter is None or _cannot_run(interpreter):
        return None
    if interpreter.fault is not None:
        answers = interpreter.answers
        return answers and {
            "python_version": answers.python_version,
            "torch_version": answers.torch_version,
        }
    torch = (facts for facts in interpreter.frameworks if facts.name is Framework.TORCH)
    observed = {"python_version": interpreter.version}
    if (facts := next(torch, None)) is not None:
        observed["torch_version"] = facts.version if facts.imported else None
    return observed


def _capabilities(report: Report, seen: Observed) -> dict[str, bool]:
    available, gpus = _observed_gpus(seen)
    failed = seen.distributed is not None and seen.distributed.paper is Outcome.FAILED
    return {
        "cuda_available": report.cuda_available is True and available is False,
        "gpu_count": None not in (report.gpu_count, gpus) and report.gpu_count != gpus,
        "ddp_expected_ok": report.ddp_expected_ok is True
        and failed
        and gpus is not None
        and gpus >= _LEAST_GPUS,
    }


def _observed_gpus(seen: Observed) -> tuple[bool | None, int | None]:
    """Return whether the frameworks find CUDA and on how many GPUs; None if C2 did not observe."""
    if seen.cuda is not None:
        if not seen.cuda.frameworks and seen.cuda.fault is None:
            return None, None
        counts = (len(facts.devices) for facts in seen.cuda.frameworks)
        return any(facts.available for facts in seen.cuda.frameworks), max(counts, default=0)
    if not seen.cuda_blocked:
        return None, None
    interpreter = seen.interpreter
    if interpreter is None or _cannot_run(interpreter):
        return False, 0
    answers = interpreter.answers
    return (
        (None, None) if answers is None else (bool(answers.cuda_available), answers.gpu_count or 0)
    )
