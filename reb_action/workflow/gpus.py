"""Assigns the GPUs of this machine to trials that run at the same time, never one twice."""

from collections.abc import Iterable

from reb_action.probe.gpu_witness import nvml, start_nvml


def list_gpus() -> tuple[str, ...]:
    """Return the UUIDs of this machine's GPUs; without NVIDIA's library there are none."""
    if not start_nvml():
        return ()
    try:
        handles = map(nvml().nvmlDeviceGetHandleByIndex, range(nvml().nvmlDeviceGetCount()))
        return tuple(str(nvml().nvmlDeviceGetUUID(handle)) for handle in handles)
    finally:
        nvml().nvmlShutdown()


class GpuPool:
    """The GPUs of this machine, by their UUIDs, and which of them no trial uses."""

    def __init__(self, gpus: Iterable[str]) -> None:
        self._free = list(gpus)
        self._count = len(self._free)

    @property
    def count(self) -> int:
        """The number of GPUs of the machine."""
        return self._count

    def take(self, count: int) -> tuple[str, ...] | None:
        """Reserve GPUs for one trial until they are released; None if too few are free.

        If the machine has fewer GPUs than the trial requires, none is reserved: the trial records
        that.
        """
        if count > self._count:
            return ()
        if count > len(self._free):
            return None
        taken, self._free = tuple(self._free[:count]), self._free[count:]
        return taken

    def give_back(self, gpus: Iterable[str]) -> None:
        """Return GPUs to the pool."""
        self._free.extend(gpus)
