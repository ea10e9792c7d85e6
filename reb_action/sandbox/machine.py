"""The resources of the machine, and the default limits of a sandbox."""

import re
from pathlib import Path
from typing import Final

from reb_action.model.limits import Limits

_MIB: Final = 1 << 20
_KIB_PER_MIB: Final = 1024
_LEAST_MIB: Final = 512
# For the kernel, the engine, reb and the gateway.
_RESERVE_MIB: Final = 1024
_RESERVE_SHARE: Final = 16
# A data loader needs some of the memory in /dev/shm, which counts as memory of the sandbox.
_SHM_SHARE: Final = 4
_LEAST_PROCESSES: Final = 4096
_MOST_PROCESSES: Final = 32768
_CGROUP_LIMITS: Final = (
    "/sys/fs/cgroup/memory.max",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
)


def find_default_limits() -> Limits:
    """Return the limits of the only sandbox on this machine or in this container."""
    memory = find_memory_mib()
    threads = _number(Path("/proc/sys/kernel/threads-max").read_text(encoding="ascii"))
    return choose_limits(memory_mib=memory, threads=threads or _LEAST_PROCESSES)


def find_memory_mib() -> int:
    """Return the memory of this machine, or of the container that it is, in MiB."""
    return _memory_mib(Path("/proc/meminfo").read_text(encoding="ascii"), _cgroup_texts())


def choose_limits(*, memory_mib: int, threads: int) -> Limits:
    """Return the limits for a machine with so much memory, and so many threads at most."""
    reserve = max(_RESERVE_MIB, memory_mib // _RESERVE_SHARE)
    memory = max(memory_mib - reserve, _LEAST_MIB)
    processes = min(max(threads // 2, _LEAST_PROCESSES), _MOST_PROCESSES)
    return Limits(memory_mib=memory, shm_mib=memory // _SHM_SHARE, processes=processes)


def _memory_mib(meminfo: str, cgroup_limits: list[str]) -> int:
    """Return the memory of the machine, or of its cgroup if that has less."""
    total = re.search(r"^MemTotal:\s+(\d+) kB$", meminfo, re.MULTILINE)
    sizes = [int(total[1]) // _KIB_PER_MIB] if total else [Limits().memory_mib]
    limits = (_number(text) for text in cgroup_limits)
    return min([*sizes, *(limit // _MIB for limit in limits if limit is not None)])


def _cgroup_texts() -> list[str]:
    paths = (Path(path) for path in _CGROUP_LIMITS)
    return [path.read_text(encoding="ascii") for path in paths if path.is_file()]


def _number(text: str) -> int | None:
    return int(text) if text.strip().isdigit() else None
