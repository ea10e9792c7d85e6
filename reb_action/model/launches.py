"""How many kernels the processes of a run launched, as a library inside them counted."""

from dataclasses import dataclass

from reb_action.model.gpu import Gpu


@dataclass(frozen=True, kw_only=True, slots=True)
class GpuLaunches:
    """What one process launched on one GPU; `collectives` are the launches of NCCL's kernels.

    `kernels` are the names of those launched most often, as the compiler mangled them.
    """

    uuid: str
    launches: int
    collectives: int
    kernels: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ProcessLaunches:
    """The kernels and CUDA graphs that one process launched; `fault`: why there is no count.

    `pid` is the number inside the sandbox, which NVML outside does not use.
    """

    pid: int
    kernels: int
    graphs: int
    gpus: tuple[GpuLaunches, ...] = ()
    fault: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Launches:
    """The launches of one run; `not_counted`: why there is no count.

    `decoy_launches` are those of the decoy run, which must have none. `gpus` is what NVML observed
    during a second run only for the count; it is empty if the count is of the first run.
    """

    processes: tuple[ProcessLaunches, ...] = ()
    decoy_launches: int | None = None
    gpus: tuple[Gpu, ...] = ()
    not_counted: str | None = None

    @property
    def total(self) -> int:
        """Return the launches of all processes."""
        return sum(process.kernels + process.graphs for process in self.processes)
