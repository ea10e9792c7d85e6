"""A GPU as NVML saw it."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Gpu:
    """A GPU as NVML saw it from outside the sandbox."""

    uuid: str
    name: str
    peak_memory_mib: int
    peak_utilisation_percent: int
    pids: tuple[int, ...] = ()
