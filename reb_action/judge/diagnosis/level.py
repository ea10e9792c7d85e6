"""Puts what was observed of a failed level before the diagnosis: its log or its error texts."""

from collections.abc import Iterator

from reb_action.judge.diagnosis.facts import Facts
from reb_action.judge.diagnosis.reading import PROOF_CHARACTERS, diagnose
from reb_action.model.diagnosis import Cause, Diagnosis
from reb_action.model.observation import (
    CudaObservation,
    ImportsObservation,
    Observation,
    RunObservation,
)


def explain(
    seen: Observation, *, log: str, has_gpu: bool, own_modules: frozenset[str], ranks: int = 1
) -> Diagnosis | None:
    """Return the likely cause of a failure; C0 names what is missing itself, so it has none."""
    match seen:
        case ImportsObservation():
            return None
        case CudaObservation():
            facts = Facts(exit_code=1, has_gpu=has_gpu, own_modules=own_modules)
            return diagnose("\n".join(_errors(seen)), facts)
        case RunObservation():
            return _of_run(seen, log, has_gpu=has_gpu, own_modules=own_modules, ranks=ranks)


def _hung(seen: RunObservation, ranks: int) -> bool:
    """Say whether ranks waited for each other: some never joined, or they are not equally far."""
    if ranks == 1:
        return False
    joined = {rank.rank for rank in seen.ranks if rank.ranks == ranks}
    return len(joined) < ranks or len({rank.collectives for rank in seen.ranks}) > 1


def _of_run(
    seen: RunObservation, log: str, *, has_gpu: bool, own_modules: frozenset[str], ranks: int
) -> Diagnosis | None:
    if seen.exit_code == 0 and all(proof.satisfied for proof in seen.proofs):
        # It ended well and was doubted for other reasons, which its log does not know.
        return None
    if seen.fault is not None and _lacks_its_command(seen):
        # A package installs it, and none did: there is no log.
        return Diagnosis(cause=Cause.MISSING_DEPENDENCY, line=seen.fault[:PROOF_CHARACTERS])
    code = seen.exit_code
    facts = Facts(
        exit_code=code,
        signal=-code if code is not None and code < 0 else None,
        timed_out=seen.timed_out,
        hung=seen.timed_out and _hung(seen, ranks),
        has_gpu=has_gpu,
        ranks=ranks,
        own_modules=own_modules,
    )
    return diagnose(log, facts)


def _lacks_its_command(seen: RunObservation) -> bool:
    """Say whether what is absent is the command itself, and not the folder that it is to run in."""
    command = repr(seen.argv[0]) if seen.argv else ""
    fault = seen.fault or ""
    return "FileNotFoundError" in fault and bool(command) and fault.endswith(command)


def _errors(seen: CudaObservation) -> Iterator[str]:
    for facts in seen.frameworks:
        yield from (error for error in (facts.error, *(d.error for d in facts.devices)) if error)
