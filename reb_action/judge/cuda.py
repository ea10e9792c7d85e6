"""Judges C2: the frameworks on the GPUs."""

from reb_action.judge.rules import (
    BUSY_PERCENT,
    count_working_gpus,
    find_library_fault,
    outcome_of,
    result_of,
)
from reb_action.model.manifest import Framework, Level, Manifest, Outcome
from reb_action.model.observation import CudaFacts, CudaObservation, Observation
from reb_action.model.verdict import LevelResult


def judge_cuda(manifest: Manifest, seen: Observation) -> LevelResult:
    """C2 holds when every framework of the manifest computes rightly on every GPU."""
    assert isinstance(seen, CudaObservation)  # noqa: S101
    if seen.fault is not None:
        return result_of(Level.C2, Outcome.FAILED, Outcome.FAILED, seen.fault)
    missing = set(manifest.frameworks) - {one.framework for one in seen.frameworks}
    faults = [f"{name} gave no answer" for name in sorted(missing)]
    faults += [] if missing or seen.frameworks else ["no framework was asked"]
    faults += [fault for one in seen.frameworks if (fault := _cuda_fault(one, seen.gpus_present))]
    if not faults and (library := find_library_fault(manifest, seen.witness)):
        faults.append(library)
    if not faults and (unseen := _unseen(manifest, seen)):
        faults.append(unseen)
    paper = outcome_of(any(one.available for one in seen.frameworks))
    reason = "; ".join(faults) or "every framework computes rightly on every GPU"
    return result_of(Level.C2, outcome_of(not faults), paper, reason)


def _unseen(manifest: Manifest, seen: CudaObservation) -> str | None:
    """Say on how many GPUs NVML saw too little; only torch is kept at work until it shows."""
    least = BUSY_PERCENT if Framework.TORCH in manifest.frameworks else 0
    working, wanted = count_working_gpus(seen.witness, least=least), max(1, seen.gpus_present)
    if working >= wanted:
        return None
    said = "while the frameworks said they computed on each"
    return f"NVML saw work of ours on {working} of {wanted} GPUs {said}"


def _cuda_fault(facts: CudaFacts, gpus: int) -> str | None:
    if facts.error is not None and not facts.devices:
        return f"{facts.framework}: {facts.error}"
    if not facts.available:
        return f"{facts.framework} finds no CUDA (built for {facts.build or 'the CPU only'})"
    indices = {device.index for device in facts.devices}
    if len(indices) < gpus:
        return f"{facts.framework} sees {len(indices)} of {gpus} GPUs"
    wrong = [device for device in facts.devices if not device.computed]
    if wrong:
        why = wrong[0].error or "the product is wrong"
        return f"{facts.framework} does not compute on GPU {wrong[0].index}: {why}"
    return None
