"""Judge C1, C3 and C4: the runs of the repository's own entry point."""

from reb_action.judge.launches import find_collective_fault, find_small_work
from reb_action.judge.rules import (
    BUSY_PERCENT,
    count_working_gpus,
    find_library_fault,
    outcome_of,
    result_of,
)
from reb_action.model.agent import Change, Touched
from reb_action.model.manifest import Level, Manifest, Outcome
from reb_action.model.observation import Observation, RunObservation
from reb_action.model.verdict import LevelResult


def judge_cpu(manifest: Manifest, seen: Observation) -> LevelResult:
    """C1 passes if the entry point ran on the CPU and its proofs hold."""
    return _judge_run(Level.C1, manifest, seen)


def judge_single_gpu(manifest: Manifest, seen: Observation) -> LevelResult:
    """C3 also requires that NVML saw the run's own work on a GPU."""
    assert isinstance(seen, RunObservation)  # noqa: S101
    if count_working_gpus(seen.witness):
        return _judge_run(Level.C3, manifest, seen)
    counted = seen.launches
    small = find_small_work(counted, counted.gpus if counted else ())
    return _judge_run(Level.C3, manifest, seen, None if small else _idle(seen), note=small)


def is_small(level: Level, seen: RunObservation) -> bool:
    """Return whether a run on one GPU lacks only a load that NVML's utilisation shows."""
    if level is not Level.C3 or count_working_gpus(seen.witness):
        return False
    held = any(gpu.peak_memory_mib > 0 for gpu in seen.witness.gpus)
    ended = seen.fault is None and seen.exit_code == 0 and not seen.changed
    return held and ended and not (_proof_fault(seen) or _decoy_fault(seen))


def judge_distributed(manifest: Manifest, seen: Observation) -> LevelResult:
    """C4 also requires that every rank used its own GPU and took part in collectives."""
    assert isinstance(seen, RunObservation)  # noqa: S101
    counted = seen.launches
    note = None
    if counted is not None and counted.not_counted is not None:
        note = f"only NCCL's own log shows the collectives: {counted.not_counted}"
    return _judge_run(Level.C4, manifest, seen, _rank_fault(manifest, seen), note=note)


def _judge_run(
    level: Level,
    manifest: Manifest,
    seen: Observation,
    gpu_fault: str | None = None,
    *,
    note: str | None = None,
) -> LevelResult:
    assert isinstance(seen, RunObservation)  # noqa: S101
    if seen.fault is not None:
        return result_of(level, Outcome.FAILED, Outcome.FAILED, seen.fault)
    if seen.timed_out:
        reason = f"the entry point had not ended after {seen.seconds:.0f} s"
        return result_of(level, Outcome.FAILED, Outcome.FAILED, reason)
    if seen.exit_code != 0:
        reason = f"the entry point ended with exit code {seen.exit_code}"
        return result_of(level, Outcome.FAILED, Outcome.FAILED, reason)
    if seen.changed:
        # The code that ran is not the commit, so both scorings fail.
        reason = _changed(seen.changed, "entry point")
        return result_of(level, Outcome.FAILED, Outcome.FAILED, reason)
    fault = (
        _proof_fault(seen)
        or _decoy_fault(seen)
        or find_library_fault(manifest, seen.witness)
        or gpu_fault
    )
    reason = fault or "; ".join(filter(None, ("the entry point ran and its proofs hold", note)))
    return result_of(level, outcome_of(fault is None), Outcome.PASSED, reason)


def _proof_fault(seen: RunObservation) -> str | None:
    broken = [proof.detail for proof in seen.proofs if not proof.satisfied]
    if not seen.proofs:
        return "no proof was looked for"
    return f"exit code 0, but without proof: {'; '.join(broken)}" if broken else None


def _decoy_fault(seen: RunObservation) -> str | None:
    if seen.decoy is None:
        return "the decoy run was not made"
    if seen.decoy.proofs_satisfied:
        return "the proofs hold even without the repository's code: they are staged"
    if not seen.decoy.token_seen:
        return "the interpreter does not run the repository's file when asked to"
    if seen.decoy.exit_code is None:
        return "the decoy run did not end, so it is not known whether the proofs are staged"
    return _changed(seen.decoy.changed, "decoy") if seen.decoy.changed else None


def _changed(files: tuple[Touched, ...], run: str) -> str:
    first, others = files[0], len(files) - 1
    what = {
        Change.MODIFIED: "was modified",
        Change.DELETED: "was deleted",
        Change.SHADOWED: "replaced a tracked module",
        Change.PUT_BACK: "was changed and restored",
    }[first.change]
    suffix = f", and {others} more" if others else ""
    return f"{first.path} {what} while the {run} ran{suffix}"


def _rank_fault(manifest: Manifest, seen: RunObservation) -> str | None:
    ranks = manifest.entrypoints[Level.C4].ranks
    devices = {rank.device for rank in seen.ranks if rank.ranks == ranks and rank.collectives > 0}
    if len(devices) < ranks:
        return f"{len(devices)} of {ranks} ranks took part in a collective, each on its own GPU"
    counted = seen.launches
    if counted is not None and counted.not_counted is None:
        # Counted launches show work of any size, so the utilisation is not asked.
        return find_collective_fault(counted, ranks=ranks, witnessed=seen.witness.gpus)
    busy = count_working_gpus(seen.witness)
    if busy >= ranks:
        return None
    return f"NVML saw {busy} of {ranks} GPUs busy, which is at {BUSY_PERCENT} % or more"


def _idle(seen: RunObservation) -> str:
    own = [gpu for gpu in seen.witness.gpus if gpu.peak_memory_mib > 0]
    counted = _count(seen)
    peak = max((gpu.peak_utilisation_percent for gpu in own), default=0)
    if peak == 0:
        return f"NVML saw no kernel on any GPU while the entry point ran{counted}"
    asked = f"work shows {BUSY_PERCENT} % or more"
    return (
        f"NVML saw no GPU busier than {peak} %, which a CUDA context alone causes; {asked}{counted}"
    )


def _count(seen: RunObservation) -> str:
    launches = seen.launches
    if launches is None:
        return ""
    if launches.not_counted is not None:
        return f"; launches were not counted: {launches.not_counted}"
    decoy = f", the decoy run {launches.decoy_launches}" if launches.decoy_launches else ""
    return f"; a second run launched {launches.total} kernels on its GPUs{decoy}"
