"""Judge C2: the frameworks on the GPUs."""

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
    """C2 passes if every framework of the manifest computes correctly on every GPU."""
    assert isinstance(seen, CudaObservation)  # noqa: S101
    if seen.fault is not None:
        return result_of(Level.C2, Outcome.FAILED, Outcome.FAILED, seen.fault)
    missing = set(manifest.frameworks) - {facts.framework for facts in seen.frameworks}
    faults = [f"{name} gave no answer" for name in sorted(missing)]
    faults += [] if missing or seen.frameworks else ["no framework was probed"]
    faults += [
        fault for facts in seen.frameworks if (fault := _cuda_fault(facts, seen.gpus_present))
    ]
    if not faults and (library := find_library_fault(manifest, seen.witness)):
        faults.append(library)
    if not faults and (idle := _find_idle_gpus(manifest, seen)):
        faults.append(idle)
    paper = outcome_of(any(facts.available for facts in seen.frameworks))
    reason = "; ".join(faults) or "every framework computes correctly on every GPU"
    return result_of(Level.C2, outcome_of(not faults), paper, reason)


def _find_idle_gpus(manifest: Manifest, seen: CudaObservation) -> str | None:
    """Return why NVML saw too few working GPUs; only torch is kept busy until its load shows."""
    least = BUSY_PERCENT if Framework.TORCH in manifest.frameworks else 0
    working, needed = count_working_gpus(seen.witness, least=least), max(1, seen.gpus_present)
    if working >= needed:
        return None
    claim = "but the frameworks reported work on each"
    return f"NVML saw the probe's work on {working} of {needed} GPUs {claim}"


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
