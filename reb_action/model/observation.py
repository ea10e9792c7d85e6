"""Observations of the probes; they contain no judgement."""

from dataclasses import dataclass
from enum import StrEnum

from reb_action.model.agent import Touched
from reb_action.model.gpu import Gpu
from reb_action.model.launches import Launches
from reb_action.model.limits import LimitHits
from reb_action.model.manifest import Framework, Proof


@dataclass(frozen=True, kw_only=True, slots=True)
class FrameworkFacts:
    """One framework in the reported interpreter: what it reports, and whether it is genuine."""

    name: Framework
    imported: bool
    version: str | None = None
    genuine: bool = False
    error: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class PlainAnswers:
    """The answers of a program to the questions of the paper's validators, without any proof.

    None: it gave no answer.
    """

    python_version: str | None = None
    torch_version: str | None = None
    cuda_available: bool | None = None
    gpu_count: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Interpreter:
    """The reported interpreter as observed; `fault`: why its other answers do not count.

    `path_is_good`: the paper's path rule holds, that is, the program runs and ends with exit code
    0. `answers` are those of a program that has a fault and runs; None: it was not asked.
    `identity` is a hash of the program, of the symlinks to it and of its pyvenv.cfg.
    """

    path: str
    fault: str | None
    path_is_good: bool
    version: str | None = None
    prefix: str | None = None
    prefix_bytes: int | None = None
    search_paths: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()
    frameworks: tuple[FrameworkFacts, ...] = ()
    answers: PlainAnswers | None = None
    survivors: tuple[str, ...] = ()
    identity: str | None = None


class Cause(StrEnum):
    """Why an import does not find its module in the agent's interpreter."""

    NOT_INSTALLED = "not_installed"
    PART_MISSING = "part_missing"
    TOO_LITTLE_CODE = "too_little_code"
    NOT_IN_PYTHON = "not_in_python"


@dataclass(frozen=True, kw_only=True, slots=True)
class Absent:
    """An import that does not find its module: the top-level name, and the part that is missing."""

    name: str
    module: str
    cause: Cause


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportsObservation:
    """C0: which imports pyright does not resolve in the agent's interpreter.

    `missing` and `stub_only` come from pyright, for the paper's count. The strict count has its own
    data: `third_party` are the names that must be installed. `absent` are imports of them that find
    nothing, None in older observations. `hollow` are names with too little code, `editable` those
    that only the interpreter's own finders find, `optional` those without which the files still
    run. `local` are the names that the repository itself provides. `fault`: how the environment
    prevented the survey. `invalid`: what else prevented it. `hits` are the limits of the sandbox
    that were hit, at every level.
    """

    total: int
    missing: tuple[str, ...]
    third_party: tuple[str, ...]
    stub_only: tuple[str, ...]
    files: int
    pyright: str
    seconds: float
    hollow: tuple[str, ...] = ()
    editable: tuple[str, ...] = ()
    local: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    absent: tuple[Absent, ...] | None = None
    fault: str | None = None
    invalid: str | None = None
    hits: LimitHits | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Device:
    """C2: one GPU as the framework used it; `computed` is a product checked against the CPU's."""

    index: int
    name: str
    capability: str
    computed: bool
    error: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Library:
    """A native library of a framework that a process of the run had mapped."""

    path: str
    size_bytes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Witness:
    """A run as observed from outside: its processes and, with GPUs, NVML."""

    samples: int
    peak_processes: int
    cpu_seconds: float
    peak_memory_mib: int
    shm_full: bool = False
    libraries: tuple[Library, ...] = ()
    driver: str | None = None
    gpus: tuple[Gpu, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class CudaFacts:
    """C2: one framework on CUDA, as seen in the reported interpreter."""

    framework: Framework
    available: bool
    build: str | None
    architectures: tuple[str, ...]
    devices: tuple[Device, ...]
    error: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class CudaObservation:
    """C2: the frameworks and the driver; `invalid`: what prevented the measurement."""

    frameworks: tuple[CudaFacts, ...]
    witness: Witness
    gpus_present: int
    seconds: float
    fault: str | None = None
    survivors: tuple[str, ...] = ()
    invalid: str | None = None
    hits: LimitHits | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Curve:
    """The losses of a training run, in order.

    `repeated` are those of a second run with the same seed, `reseeded` those of a run with another
    seed; empty if there was none. `per_second` is the number of losses in a second, from the first
    to the last that was read; None if they were read at once.
    """

    losses: tuple[float, ...]
    per_second: float | None = None
    repeated: tuple[float, ...] = ()
    reseeded: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ProofObservation:
    """One proof of an entry point, and the evidence that was found for it."""

    proof: Proof
    satisfied: bool
    detail: str
    curve: Curve | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Decoy:
    """The decoy run: the same command with the repository's code replaced by the harness's.

    In an honest environment it ends with the decoy's exit code, leaves the decoy's token and no
    proof. `changed` are the tracked files that changed meanwhile.
    """

    exit_code: int | None
    expected_exit_code: int
    token_seen: bool
    proofs_satisfied: bool
    survivors: tuple[str, ...] = ()
    changed: tuple[Touched, ...] = ()

    @property
    def honest(self) -> bool:
        """Whether the output of this environment is caused by the repository's code."""
        return self.token_seen and not self.proofs_satisfied and not self.changed


@dataclass(frozen=True, kw_only=True, slots=True)
class Rank:
    """C4: one rank as its communication library recorded it."""

    rank: int
    ranks: int
    device: str
    collectives: int


@dataclass(frozen=True, kw_only=True, slots=True)
class StageObservation:
    """One run of a stage of the manifest; `tail` is the end of its log.

    `fault` is why the run does not count.
    A stage has no decoy run: it follows C1, whose proofs are checked with one.
    """

    name: str
    exit_code: int | None
    timed_out: bool
    seconds: float
    proofs: tuple[ProofObservation, ...]
    tail: str = ""
    fault: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class RunObservation:
    """C1, C3, C4: one run of an entry point; `fault`: why it could not be started.

    `survivors` are the names of processes that were still running when the real run or the decoy
    run had ended. `invalid`: what prevented the measurement. `restored` are the tracked files that
    were restored before the run, `changed` those that changed during it and were restored after it.
    `launches` is None if no count was requested. `stages` are the manifest's, at C1 after a run
    whose proofs hold.
    """

    argv: tuple[str, ...]
    exit_code: int | None
    timed_out: bool
    seconds: float
    proofs: tuple[ProofObservation, ...]
    decoy: Decoy | None
    witness: Witness
    restored: tuple[Touched, ...]
    log_sha256: str
    gpus_present: int
    ranks: tuple[Rank, ...] = ()
    fault: str | None = None
    survivors: tuple[str, ...] = ()
    invalid: str | None = None
    changed: tuple[Touched, ...] = ()
    launches: Launches | None = None
    hits: LimitHits | None = None
    stages: tuple[StageObservation, ...] = ()


Observation = ImportsObservation | CudaObservation | RunObservation
