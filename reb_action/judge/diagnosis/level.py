"""Diagnose a failed level from its observation and its log."""

from collections.abc import Iterator
from dataclasses import replace

from reb_action.judge.diagnosis.search import PROOF_CHARACTERS, Facts, diagnose
from reb_action.model.diagnosis import Cause, Diagnosis
from reb_action.model.observation import (
    CudaObservation,
    ImportsObservation,
    Observation,
    RunObservation,
)


def diagnose_level(
    observation: Observation,
    *,
    log: str,
    has_gpu: bool,
    own_modules: frozenset[str],
    ranks: int = 1,
) -> Diagnosis | None:
    """Return the likely cause of a failure; C0 has none, since its result names what is missing."""
    facts = Facts(has_gpu=has_gpu, own_modules=own_modules, ranks=ranks)
    match observation:
        case ImportsObservation():
            return None
        case CudaObservation():
            errors = "\n".join(_list_errors(observation))
            return diagnose(errors, replace(facts, exit_code=1, ranks=1))
        case RunObservation():
            return _diagnose_run(observation, log, facts)


def _diagnose_run(run: RunObservation, log: str, facts: Facts) -> Diagnosis | None:
    if run.exit_code == 0 and all(proof.satisfied for proof in run.proofs):
        # The run succeeded; the level failed for reasons that its log does not show.
        return None
    if run.fault is not None and _lacks_its_command(run):
        # A package installs the command and is missing, so the run has no log.
        return Diagnosis(cause=Cause.MISSING_DEPENDENCY, line=run.fault[:PROOF_CHARACTERS])
    code = run.exit_code
    return diagnose(
        log,
        replace(
            facts,
            exit_code=code,
            signal=-code if code is not None and code < 0 else None,
            timed_out=run.timed_out,
            hung=run.timed_out and _is_hung(run, facts.ranks),
        ),
    )


def _is_hung(run: RunObservation, ranks: int) -> bool:
    """Return whether ranks waited for each other: some did not join, or some are behind others."""
    if ranks == 1:
        return False
    joined = {rank.rank for rank in run.ranks if rank.ranks == ranks}
    return len(joined) < ranks or len({rank.collectives for rank in run.ranks}) > 1


def _lacks_its_command(run: RunObservation) -> bool:
    """Return whether the missing file is the command itself, not its working directory."""
    command = repr(run.argv[0]) if run.argv else ""
    fault = run.fault or ""
    return "FileNotFoundError" in fault and bool(command) and fault.endswith(command)


def _list_errors(cuda: CudaObservation) -> Iterator[str]:
    for facts in cuda.frameworks:
        errors = (facts.error, *(device.error for device in facts.devices))
        yield from (error for error in errors if error)
