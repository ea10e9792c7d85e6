"""The GPU witness: samples NVML from outside the sandbox while something runs inside.

A runner without NVIDIA's library simply has no GPU; that is an answer, not an error.
"""

import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, cast

import pynvml

from reb_action.model.observation import Gpu

_INTERVAL_SECONDS: Final = 0.1
_MIB: Final = 1 << 20

# nvidia-ml-py ships without types; this is the one place that calls it.
_nvml = cast(Any, pynvml)


@dataclass(slots=True)
class Watch:
    """What has been seen so far; complete once the `watch` block has ended."""

    driver: str | None = None
    present: int = 0
    gpus: tuple[Gpu, ...] = ()
    samples: int = 0


@dataclass(slots=True)
class _Peak:
    uuid: str
    name: str
    baseline_mib: int
    before: frozenset[int]
    memory_mib: int = 0
    utilisation: int = 0
    pids: set[int] = field(default_factory=set[int])


@contextmanager
def watch() -> Generator[Watch]:
    """Sample every GPU of this machine until the block ends; then `gpus` says what was seen.

    Memory is counted above what was in use at the start, and processes that were there before do
    not count, so that a neighbour's idle job is no evidence.
    """
    seen = Watch()
    if not _is_there():
        yield seen
        return
    try:
        yield from _sampled(seen)
    finally:
        _nvml.nvmlShutdown()


def _is_there() -> bool:
    try:
        _nvml.nvmlInit()
    except _nvml.NVMLError:
        return False
    return True


def _sampled(seen: Watch) -> Generator[Watch]:
    handles = [_nvml.nvmlDeviceGetHandleByIndex(i) for i in range(_nvml.nvmlDeviceGetCount())]
    seen.driver, seen.present = str(_nvml.nvmlSystemGetDriverVersion()), len(handles)
    peaks = [_start(handle) for handle in handles]
    stop = threading.Event()
    thread = threading.Thread(target=_sample, args=(handles, peaks, stop, seen), daemon=True)
    thread.start()
    try:
        yield seen
    finally:
        stop.set()
        thread.join(timeout=5)
        seen.gpus = tuple(_gpu(peak) for peak in peaks)


def _start(handle: object) -> _Peak:
    return _Peak(
        uuid=str(_nvml.nvmlDeviceGetUUID(handle)),
        name=str(_nvml.nvmlDeviceGetName(handle)),
        baseline_mib=_memory_mib(handle),
        before=frozenset(_pids(handle)),
    )


def _sample(handles: list[object], peaks: list[_Peak], stop: threading.Event, seen: Watch) -> None:
    while not stop.wait(_INTERVAL_SECONDS):
        seen.samples += 1
        for handle, peak in zip(handles, peaks, strict=True):
            peak.memory_mib = max(peak.memory_mib, _memory_mib(handle) - peak.baseline_mib)
            peak.utilisation = max(peak.utilisation, _utilisation(handle))
            peak.pids |= set(_pids(handle)) - peak.before


def _memory_mib(handle: object) -> int:
    try:
        return int(_nvml.nvmlDeviceGetMemoryInfo(handle).used) // _MIB
    except _nvml.NVMLError:
        return 0


def _utilisation(handle: object) -> int:
    try:
        return int(_nvml.nvmlDeviceGetUtilizationRates(handle).gpu)
    except _nvml.NVMLError:
        return 0


def _pids(handle: object) -> list[int]:
    try:
        return [int(process.pid) for process in _nvml.nvmlDeviceGetComputeRunningProcesses(handle)]
    except _nvml.NVMLError:
        return []


def _gpu(peak: _Peak) -> Gpu:
    return Gpu(
        uuid=peak.uuid,
        name=peak.name,
        peak_memory_mib=peak.memory_mib,
        peak_utilisation_percent=peak.utilisation,
        pids=tuple(sorted(peak.pids)),
    )
