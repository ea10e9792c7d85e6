"""Reads and judges the launches that `probes/launches/launches.c` counts inside a run's processes.

The table of a process was written by that process: it is untrusted, and proves something only
together with NVML, which looks from outside, and with the decoy run, which must launch nothing.
"""

import re
import struct
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from reb_action.model.gpu import Gpu
from reb_action.model.launches import GpuLaunches, Launches, ProcessLaunches

TABLE_BYTES: Final = 1 << 16
_HEADER: Final = struct.Struct("<8sIiiIQQQ80x")
_ROW: Final = struct.Struct("<16sQI100s")
_MAGIC: Final = b"REBLNCH1"
_COUNTING: Final = 1
_FAULTS: Final = {0: "it ended while it loaded CUPTI", -1: "it found no CUPTI library"}
_NAMED: Final = 8

# NCCL's kernels before 2.19 and since, as nvcc mangles the names of functions.
_COLLECTIVE: Final = re.compile(rb"(?:_Z\d{1,3})?nccl(?:Dev)?Kernel_")


def read_table(table: bytes) -> ProcessLaunches | None:
    """Return the launches of one process from its table; None if it is not a table."""
    if len(table) != TABLE_BYTES or not table.startswith(_MAGIC):
        return None
    _, pid, status, result, _, kernels, graphs, _ = _HEADER.unpack_from(table)
    if status != _COUNTING:
        fault = _FAULTS.get(status, f"CUPTI cannot count (error {result})")
        return ProcessLaunches(pid=pid, kernels=0, graphs=0, fault=fault)
    return ProcessLaunches(
        pid=pid, kernels=kernels, graphs=graphs, gpus=tuple(_read_gpus(table[_HEADER.size :]))
    )


def _read_gpus(rows: bytes) -> Iterator[GpuLaunches]:
    gpus: dict[bytes, Counter[bytes]] = {}
    for uuid, launches, ready, name in _ROW.iter_unpack(rows):
        if ready and launches:
            gpus.setdefault(uuid, Counter())[name.partition(b"\0")[0]] += launches
    for uuid, counts in sorted(gpus.items()):
        often = (name for name, _ in counts.most_common(_NAMED))
        yield GpuLaunches(
            uuid=_name_gpu(uuid),
            launches=counts.total(),
            collectives=sum(n for name, n in counts.items() if _COLLECTIVE.match(name)),
            kernels=tuple(name.decode("ascii", "backslashreplace") for name in often),
        )


def _name_gpu(uuid: bytes) -> str:
    """Return a UUID as NVML writes it."""
    digits = uuid.hex()
    parts = (digits[start:end] for start, end in ((0, 8), (8, 12), (12, 16), (16, 20), (20, 32)))
    return f"GPU-{'-'.join(parts)}"


def find_small_work(launches: Launches | None, witnessed: Iterable[Gpu]) -> str | None:
    """Return how many launches show work that is too small for NVML's utilisation; None if none.

    `witnessed` are the GPUs on which NVML saw the processes of the run.
    """
    if launches is None or launches.not_counted is not None or launches.decoy_launches != 0:
        return None
    held = {gpu.uuid for gpu in witnessed if gpu.peak_memory_mib > 0}
    number = sum(
        gpu.launches for process in launches.processes for gpu in process.gpus if gpu.uuid in held
    )
    return f"{number} kernels were launched" if number else None


def find_collective_fault(
    launches: Launches, *, ranks: int, witnessed: Iterable[Gpu]
) -> str | None:
    """Return why the launches do not show that each rank ran NCCL on its own GPU."""
    if launches.decoy_launches:
        return (
            f"the decoy run launched {launches.decoy_launches} kernels too, so they prove nothing"
        )
    held = {gpu.uuid for gpu in witnessed if gpu.peak_memory_mib > 0}
    taken: set[str] = set()
    for process in sorted(launches.processes, key=lambda process: len(process.gpus)):
        own = (gpu.uuid for gpu in process.gpus if gpu.collectives and gpu.uuid not in taken)
        taken.update(islice(own, 1))
    if len(taken) < ranks:
        return f"{len(taken)} of {ranks} ranks launched NCCL's kernels, each on its own GPU"
    if len(taken & held) < ranks:
        return f"NVML saw no process of the run on {len(taken - held)} of the ranks' GPUs"
    return None
