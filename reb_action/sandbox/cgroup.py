"""The kernel's counts for a control group: kills for memory, processes not started."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from reb_action.model.limits import LimitHits

_ROOT: Final = "/sys/fs/cgroup"
# Version 2, then version 1. Within a container these are the container's own.
_MEMORY: Final = (f"{_ROOT}/memory.events", f"{_ROOT}/memory/memory.oom_control")
# Version 2 counts how often the limit was reached among its events. Version 1 has `failcnt` for
# that, which newer kernels leave at 0: there the greatest use so far is compared with the limit.
_MOST_USED: Final = f"{_ROOT}/memory/memory.max_usage_in_bytes"
_MEMORY_LIMIT: Final = f"{_ROOT}/memory/memory.limit_in_bytes"
_PROCESSES: Final = (f"{_ROOT}/pids.events", f"{_ROOT}/pids/pids.events")
_FULL_BYTES: Final = 64 << 20
"""With less space than this, a program can no longer be installed."""

LOOK: Final = f"""
grep -sH . {" ".join((*_MEMORY, _MOST_USED, _MEMORY_LIMIT, *_PROCESSES))}
stat -f -c 'disk:%a %S' "$1"
"""
"""A shell script for the inside of a container; its argument is a folder of the disk in question.

Only `sh` and `grep` themselves are started, so it works where few more processes may be.
"""


def parse_hits(lines: str, *, disk_full: bool = False) -> LimitHits:
    """Read the output of LOOK: lines of those files after their paths, and free blocks."""
    texts = [line.partition(":") for line in lines.splitlines()]
    memory = "\n".join(text for path, _, text in texts if path in _MEMORY)
    numbers = {path: int(text) for path, _, text in texts if re.fullmatch(r"[0-9]{1,20}", text)}
    kills = _number(memory, "oom_kill")
    is_used_up = numbers.get(_MOST_USED, -1) >= numbers.get(_MEMORY_LIMIT, 0)
    processes = "\n".join(text for path, _, text in texts if path in _PROCESSES)
    blocks = re.search(r"^disk:(\d{1,15}) (\d{1,9})$", lines, re.MULTILINE)
    has_no_blocks = blocks is not None and int(blocks[1]) * int(blocks[2]) < _FULL_BYTES
    return LimitHits(
        memory_kills=kills,
        memory_refused=_number(memory, "oom") + (kills if is_used_up else 0),
        processes_refused=_number(processes, "max"),
        disk_full=disk_full or has_no_blocks,
    )


def show_group(groups: str, *, name: str, root: Path = Path("/")) -> str | None:
    """Return the files of a group as LOOK prints them inside, None where they are not seen here.

    `groups` is the text of /proc/PID/cgroup; if its paths lack `name`, the group belongs to another
    container.
    """
    texts = {path: _read(root, place) for path, place in _place_files(groups, name)}
    if not any(texts.get(path) for path in _MEMORY):
        return None
    if all(texts.get(path) is None for path in _PROCESSES):
        return None
    return "".join(
        f"{path}:{line}\n" for path in texts for line in (texts[path] or "").splitlines()
    )


def _place_files(groups: str, name: str) -> Iterator[tuple[str, str]]:
    """Yield each file of LOOK with where it is outside of the container."""
    for line in groups.splitlines():
        _, controllers, group = line.split(":", 2)
        if name not in group:
            continue
        for path in (*_MEMORY, _MOST_USED, _MEMORY_LIMIT, *_PROCESSES):
            folder, _, file = path.rpartition("/")
            if folder.removeprefix(_ROOT).lstrip("/") in controllers.split(","):
                yield path, f"{folder}{group}/{file}"


def _read(root: Path, place: str) -> str | None:
    try:
        return (root / place.lstrip("/")).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def read_own_hits(folder: str) -> LimitHits:
    """Return the counts of this process's own group, or of the machine if there is no group."""
    kills = read_kills(Path("/proc/self/cgroup").read_text(encoding="utf-8"))
    if not Path(folder).is_dir():
        return LimitHits(memory_kills=kills)
    return LimitHits(memory_kills=kills, disk_full=is_disk_full(Path(folder)))


def is_disk_full(folder: Path) -> bool:
    """Say whether a folder's disk has too little space left to install a program."""
    disk = os.statvfs(folder)
    return disk.f_bavail * disk.f_frsize < _FULL_BYTES


def read_kills(groups: str, *, root: Path = Path("/")) -> int:
    """Return how many processes were killed for memory in a group, or on the machine.

    `groups` is the text of /proc/PID/cgroup, `root` where /sys and /proc are.
    """
    for path in _list_memory_files(groups):
        file = root / path.lstrip("/")
        if file.is_file():
            return _number(file.read_text(encoding="utf-8", errors="replace"), "oom_kill")
    return 0


def _list_memory_files(groups: str) -> Iterator[str]:
    """Yield the possible folders of the counts: of the group's path, or the namespace's root."""
    for line in groups.splitlines():
        _, controllers, path = line.split(":", 2)
        path = path.rstrip("/")
        if controllers == "":
            yield f"{_ROOT}{path}/memory.events"
        if "memory" in controllers.split(","):
            yield f"{_ROOT}/memory{path}/memory.oom_control"
    yield from (*_MEMORY, "/proc/vmstat")


def _number(text: str, name: str) -> int:
    match = re.search(rf"^{name} (\d{{1,15}})$", text, re.MULTILINE)
    return int(match[1]) if match else 0
