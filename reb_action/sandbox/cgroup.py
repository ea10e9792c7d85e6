"""What the kernel counts for a group of processes: kills for memory, processes not started."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from reb_action.model.limits import LimitHits

_ROOT: Final = "/sys/fs/cgroup"
# Version 2, then version 1. Within a container these are the container's own.
_MEMORY: Final = (f"{_ROOT}/memory.events", f"{_ROOT}/memory/memory.oom_control")
_PROCESSES: Final = (f"{_ROOT}/pids.events", f"{_ROOT}/pids/pids.events")
_FULL_BYTES: Final = 64 << 20
"""With less space than this, a program can no longer be installed."""

LOOK: Final = f"""
grep -sH . {" ".join(_MEMORY + _PROCESSES)}
stat -f -c 'disk:%a %S' "$1"
"""
"""A shell script for the inside of a container; its argument is a folder of the disk in question.

Only `sh` and `grep` themselves are started, so it works where few more processes may be.
"""


def parse_hits(lines: str) -> LimitHits:
    """Read the output of LOOK: lines of those files after their paths, and free blocks."""
    texts = [line.partition(":") for line in lines.splitlines()]
    memory = "\n".join(text for path, _, text in texts if path in _MEMORY)
    processes = "\n".join(text for path, _, text in texts if path in _PROCESSES)
    blocks = re.search(r"^disk:(\d{1,15}) (\d{1,9})$", lines, re.MULTILINE)
    return LimitHits(
        memory_kills=_number(memory, "oom_kill"),
        processes_refused=_number(processes, "max"),
        disk_full=blocks is not None and int(blocks[1]) * int(blocks[2]) < _FULL_BYTES,
    )


def read_own_hits(folder: str) -> LimitHits:
    """Return the counts of this process's own group, or of the machine if there is no group."""
    kills = _number(_own_memory_events(), "oom_kill")
    if not Path(folder).is_dir():
        return LimitHits(memory_kills=kills)
    disk = os.statvfs(folder)
    is_full = disk.f_bavail * disk.f_frsize < _FULL_BYTES
    return LimitHits(memory_kills=kills, disk_full=is_full)


def _own_memory_events() -> str:
    for path in _own_memory_files():
        if path.is_file():
            return path.read_text(encoding="utf-8", errors="replace")
    return ""


def _own_memory_files() -> Iterator[Path]:
    """Yield where the counts may be: below the group's path, or at the root of a namespace."""
    for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            yield Path(f"{_ROOT}{path}/memory.events")
        if "memory" in controllers.split(","):
            yield Path(f"{_ROOT}/memory{path}/memory.oom_control")
    yield from map(Path, (*_MEMORY, "/proc/vmstat"))


def _number(text: str, name: str) -> int:
    match = re.search(rf"^{name} (\d{{1,15}})$", text, re.MULTILINE)
    return int(match[1]) if match else 0
