"""The levels of the pyramid: what each asks, and how its observation is judged."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from reb_action.challenge import is_mapped
from reb_action.model.agent import Change, Touched
from reb_action.model.manifest import Framework, Level, Manifest, Outcome
from reb_action.model.observation import (
    CudaFacts,
    CudaObservation,
    ImportsObservation,
    Observation,
    RunObservation,
    Witness,
)
from reb_action.model.verdict import ImportCount, LevelResult

BUSY_PERCENT: Final = 3
"""NVML shows one percent for a process that only makes a CUDA context (H200, driver 580)."""

Judge = Callable[[Manifest, Observation], LevelResult]


@dataclass(frozen=True, kw_only=True, slots=True)
class LevelSpec:
    """A level: its name for people, its question, and how many GPUs it needs of the runner."""

    level: Level
    title: str
    question: str
    judge: Judge | None
    gpus: int = 0

    def gpus_needed(self, manifest: Manifest) -> int:
        """Return how many GPUs this level needs for this repository."""
        entrypoint = manifest.entrypoints.get(self.level)
        return max(self.gpus, entrypoint.ranks) if self.gpus and entrypoint else self.gpus


def judge_imports(manifest: Manifest, seen: Observation) -> LevelResult:
    """C0 holds when every third-party import resolves to an installed package."""
    assert isinstance(seen, ImportsObservation)  # noqa: S101
    if manifest.imports and not seen.files:
        return unobserved_imports(manifest, Outcome.INVALID, "no file was read")
    wanted = set(seen.third_party)
    unfound = {*seen.missing, *seen.stub_only} - {*seen.editable}
    absent = wanted if seen.fault else wanted & {*unfound, *seen.hollow}
    missing = manifest.imports if seen.fault else min(len(seen.missing), manifest.imports)
    count = ImportCount(
        missing=missing,
        total=manifest.imports,
        strict_missing=len(absent),
        strict_total=len(wanted),
    )
    told = seen.fault or _named("not installed", sorted(absent))
    return LevelResult(
        level=Level.C0,
        outcome=_outcome(told is None),
        paper=_outcome(not seen.missing and not seen.fault),
        reason=told or "every third-party import resolves",
        imports=count,
    )


def unobserved_imports(manifest: Manifest, outcome: Outcome, reason: str) -> LevelResult:
    """Return C0 without an observation: everything counts as missing, never as found."""
    count = ImportCount(
        missing=manifest.imports, total=manifest.imports, strict_missing=None, strict_total=None
    )
    return LevelResult(level=Level.C0, outcome=outcome, paper=outcome, reason=reason, imports=count)


def judge_cuda(manifest: Manifest, seen: Observation) -> LevelResult:
    """C2 holds when every framework of the manifest computes rightly on every GPU."""
    assert isinstance(seen, CudaObservation)  # noqa: S101
    if seen.fault is not None:
        return _result(Level.C2, Outcome.FAILED, Outcome.FAILED, seen.fault)
    missing = set(manifest.frameworks) - {one.framework for one in seen.frameworks}
    faults = [f"{name} gave no answer" for name in sorted(missing)]
    faults += [] if missing or seen.frameworks else ["no framework was asked"]
    faults += [fault for one in seen.frameworks if (fault := _cuda_fault(one, seen.gpus_present))]
    if not faults and (library := _library_fault(manifest, seen.witness)):
        faults.append(library)
    if not faults and (unseen := _unseen(manifest, seen)):
        faults.append(unseen)
    paper = _outcome(any(one.available for one in seen.frameworks))
    reason = "; ".join(faults) or "every framework computes rightly on every GPU"
    return _result(Level.C2, _outcome(not faults), paper, reason)


def _unseen(manifest: Manifest, seen: CudaObservation) -> str | None:
    """Say on how many GPUs NVML saw too little; only torch is kept at work until it shows."""
    least = BUSY_PERCENT if Framework.TORCH in manifest.frameworks else 0
    working, wanted = _working(seen.witness, least=least), max(1, seen.gpus_present)
    if working >= wanted:
        return None
    said = "while the frameworks said they computed on each"
    return f"NVML saw work of ours on {working} of {wanted} GPUs {said}"


def judge_cpu(manifest: Manifest, seen: Observation) -> LevelResult:
    """C1 holds when the entry point ran on the CPU and its proofs hold."""
    return _judge_run(Level.C1, manifest, seen)


def judge_single_gpu(manifest: Manifest, seen: Observation) -> LevelResult:
    """C3 holds when, besides, NVML saw the run's own work on a GPU."""
    assert isinstance(seen, RunObservation)  # noqa: S101
    return _judge_run(Level.C3, manifest, seen, None if _working(seen.witness) else _idle(seen))


def judge_distributed(manifest: Manifest, seen: Observation) -> LevelResult:
    """C4 holds when, besides, every rank used a GPU of its own and took part in collectives."""
    assert isinstance(seen, RunObservation)  # noqa: S101
    return _judge_run(Level.C4, manifest, seen, _rank_fault(manifest, seen))


def _judge_run(
    level: Level, manifest: Manifest, seen: Observation, gpu_fault: str | None = None
) -> LevelResult:
    assert isinstance(seen, RunObservation)  # noqa: S101
    if seen.fault is not None:
        return _result(level, Outcome.FAILED, Outcome.FAILED, seen.fault)
    if seen.timed_out:
        reason = f"the entry point had not ended after {seen.seconds:.0f} s"
        return _result(level, Outcome.FAILED, Outcome.FAILED, reason)
    if seen.exit_code != 0:
        reason = f"the entry point ended with exit code {seen.exit_code}"
        return _result(level, Outcome.FAILED, Outcome.FAILED, reason)
    if seen.changed:
        # What ran was not the commit, and so not what either scoring asks about.
        reason = _changed(seen.changed, "entry point")
        return _result(level, Outcome.FAILED, Outcome.FAILED, reason)
    fault = (
        _proof_fault(seen)
        or _decoy_fault(seen)
        or _library_fault(manifest, seen.witness)
        or gpu_fault
    )
    reason = fault or "the entry point ran and its proofs hold"
    return _result(level, _outcome(fault is None), Outcome.PASSED, reason)


def _proof_fault(seen: RunObservation) -> str | None:
    broken = [proof.detail for proof in seen.proofs if not proof.satisfied]
    if not seen.proofs:
        return "no proof was looked for"
    return f"exit code 0, but without proof: {'; '.join(broken)}" if broken else None


def _decoy_fault(seen: RunObservation) -> str | None:
    if seen.decoy is None:
        return "the decoy run was not made"
    if seen.decoy.proofs_satisfied:
        return "the proofs hold even when the repository's code is taken out: they are staged"
    if not seen.decoy.token_seen:
        return "the interpreter does not run the repository's file when told to"
    return _changed(seen.decoy.changed, "decoy") if seen.decoy.changed else None


def _changed(files: tuple[Touched, ...], run: str) -> str:
    first, more = files[0], len(files) - 1
    what = {
        Change.MODIFIED: "was modified",
        Change.DELETED: "was deleted",
        Change.SHADOWED: "was put in the place of a tracked module",
        Change.PUT_BACK: "was modified and put back",
    }[first.change]
    others = f", and {more} more" if more else ""
    return f"{first.path} {what} while the {run} ran{others}"


def _library_fault(manifest: Manifest, witness: Witness) -> str | None:
    absent = [one for one in manifest.frameworks if not is_mapped(one, witness.libraries)]
    if not absent:
        return None
    return f"no process of the run had the native library of {' or '.join(absent)} loaded"


def _rank_fault(manifest: Manifest, seen: RunObservation) -> str | None:
    ranks = manifest.entrypoints[Level.C4].ranks
    devices = {rank.device for rank in seen.ranks if rank.ranks == ranks and rank.collectives > 0}
    if len(devices) < ranks:
        return f"{len(devices)} of {ranks} ranks took part in a collective on a GPU of their own"
    busy = _working(seen.witness)
    if busy >= ranks:
        return None
    return f"NVML saw {busy} of {ranks} GPUs busy, which is at {BUSY_PERCENT} % or more"


def _working(witness: Witness, *, least: int = BUSY_PERCENT) -> int:
    """Return how many GPUs worked and held memory of this run: a neighbour's work is neither."""
    return sum(
        gpu.peak_utilisation_percent >= least and gpu.peak_memory_mib > 0 for gpu in witness.gpus
    )


def _idle(seen: RunObservation) -> str:
    own = [gpu for gpu in seen.witness.gpus if gpu.peak_memory_mib > 0]
    peak = max((gpu.peak_utilisation_percent for gpu in own), default=0)
    if peak == 0:
        return "NVML saw no kernel on any GPU while the entry point ran"
    asked = f"work shows {BUSY_PERCENT} % or more"
    return f"NVML saw no GPU busier than {peak} %, as a CUDA context alone makes it; {asked}"


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


def _named(what: str, names: list[str]) -> str | None:
    shown = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    return f"{len(names)} {what}: {shown}" if names else None


def _outcome(holds: bool) -> Outcome:
    return Outcome.PASSED if holds else Outcome.FAILED


def _result(level: Level, outcome: Outcome, paper: Outcome, reason: str) -> LevelResult:
    return LevelResult(level=level, outcome=outcome, paper=paper, reason=reason)


LEVELS: Final = (
    LevelSpec(
        level=Level.C0,
        title="static integrity",
        question="Do the imports of the repository resolve?",
        judge=judge_imports,
    ),
    LevelSpec(
        level=Level.C1,
        title="CPU run",
        question="Does the repository's own entry point run on the CPU?",
        judge=judge_cpu,
    ),
    LevelSpec(
        level=Level.C2,
        title="CUDA alignment",
        question="Do the installed frameworks agree with the driver?",
        judge=judge_cuda,
        gpus=1,
    ),
    LevelSpec(
        level=Level.C3,
        title="single-GPU run",
        question="Does the entry point execute kernels on one GPU?",
        judge=judge_single_gpu,
        gpus=1,
    ),
    LevelSpec(
        level=Level.C4,
        title="distributed run",
        question="Does it run distributed over several GPUs?",
        judge=judge_distributed,
        gpus=2,
    ),
    LevelSpec(
        level=Level.C5,
        title="honest report",
        question="Does the report claim nothing that the probes contradict?",
        judge=None,
    ),
)


def spec_of(level: Level) -> LevelSpec:
    """Return the specification of a level."""
    return next(spec for spec in LEVELS if spec.level is level)
