"""The GPU witness: samples NVML from outside the sandbox during a run inside.

A runner without NVIDIA's library has no GPU. This is a valid answer, not an error.
"""

import ctypes
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from reb_action.model.gpu import Gpu

Owns = Callable[[int], bool]
"""Returns whether a process, by its number on this machine, belongs to the watched sandbox."""

_INTERVAL_SECONDS: Final = 0.2
_MIB: Final = 1 << 20

_LIBRARY: Final = "libnvidia-ml.so.1"


@dataclass(slots=True)
class Watch:
    """The samples so far; complete after the end of the `watch` block."""

    driver: str | None = None
    present: int = 0
    gpus: tuple[Gpu, ...] = ()
    samples: int = 0


@dataclass(slots=True)
class _Peak:
    """One GPU: the peak use by the sandbox's processes, and the start of their NVML samples."""

    handle: object
    uuid: str
    name: str
    since: int
    memory_mib: int = 0
    utilisation: int = 0
    pids: set[int] = field(default_factory=set[int])


@contextmanager
def watch(owns: Owns) -> Generator[Watch]:
    """Sample every GPU of this machine until the block ends; then `gpus` has the result.

    Only processes that `owns` accepts count, so the work of other processes is not evidence.
    """
    seen = Watch()
    if not start_nvml():
        yield seen
        return
    try:
        yield from _sampled(seen, owns)
    finally:
        nvml().nvmlShutdown()


def own_nothing(_pid: int) -> bool:
    """Accept no process; used to list the GPUs only."""
    return False


def start_nvml() -> bool:
    """Start NVML, until `nvmlShutdown`; False where this machine has no driver of NVIDIA's."""
    try:
        ctypes.CDLL(_LIBRARY)
    except OSError:
        return False
    try:
        nvml().nvmlInit()
    except nvml().NVMLError:
        return False
    return True


@cache
def nvml() -> Any:  # noqa: ANN401 - nvidia-ml-py ships without types
    """Return the binding of NVML."""
    # Imported here: it is large, and most runners have no GPU.
    import pynvml  # noqa: PLC0415

    return pynvml


def _sampled(seen: Watch, owns: Owns) -> Generator[Watch]:
    handles = [nvml().nvmlDeviceGetHandleByIndex(i) for i in range(nvml().nvmlDeviceGetCount())]
    seen.driver, seen.present = str(nvml().nvmlSystemGetDriverVersion()), len(handles)
    peaks = [_start(handle) for handle in handles]
    stop = threading.Event()
    thread = threading.Thread(target=_sample, args=(peaks, owns, stop, seen), daemon=True)
    thread.start()
    try:
        yield seen
    finally:
        stop.set()
        thread.join(timeout=5)
        seen.gpus = tuple(_gpu(peak) for peak in peaks)


def _start(handle: object) -> _Peak:
    return _Peak(
        handle=handle,
        uuid=str(nvml().nvmlDeviceGetUUID(handle)),
        name=str(nvml().nvmlDeviceGetName(handle)),
        # NVML stamps its samples in microseconds since the epoch.
        since=int(time.time() * 1e6),
    )


def _sample(peaks: list[_Peak], owns: Owns, stop: threading.Event, seen: Watch) -> None:
    known: dict[int, bool] = {}

    def is_own(pid: int) -> bool:
        # The answer for a process number is kept, so that each is checked only once.
        if pid not in known:
            known[pid] = owns(pid)
        return known[pid]

    while not stop.wait(_INTERVAL_SECONDS):
        seen.samples += 1
        for peak in peaks:
            _look(peak, is_own)


def _look(peak: _Peak, is_own: Owns) -> None:
    holding = {pid: used for pid, used in _holding(peak.handle) if is_own(pid)}
    if not holding:
        return
    peak.pids |= set(holding)
    peak.memory_mib = max(peak.memory_mib, sum(holding.values()) // _MIB)
    peak.utilisation = max(peak.utilisation, _working(peak, set(holding)))


def _holding(handle: object) -> list[tuple[int, int]]:
    """Return the processes with memory on a GPU, and how many bytes; 0 where NVML cannot tell."""
    try:
        found = nvml().nvmlDeviceGetComputeRunningProcesses(handle)
    except nvml().NVMLError:
        return []
    return [(int(process.pid), int(process.usedGpuMemory or 0)) for process in found]


def _working(peak: _Peak, own: set[int]) -> int:
    """Return the largest share of time, in percent, in which kernels of our processes ran."""
    try:
        samples = nvml().nvmlDeviceGetProcessUtilization(peak.handle, peak.since)
    except nvml().NVMLError:
        return 0
    shares = [int(sample.smUtil) for sample in samples if int(sample.pid) in own]
    return max(shares, default=0)


def _gpu(peak: _Peak) -> Gpu:
    return Gpu(
        uuid=peak.uuid,
        name=peak.name,
        peak_memory_mib=peak.memory_mib,
        peak_utilisation_percent=peak.utilisation,
        pids=tuple(sorted(peak.pids)),
    )
