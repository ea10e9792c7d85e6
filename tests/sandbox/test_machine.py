"""The defaults of a sandbox's limits come from the machine, less a reserve."""

from pathlib import Path

import pytest

from reb_action.model.limits import LimitHits
from reb_action.sandbox.cgroup import parse_hits
from reb_action.sandbox.machine import choose_limits, find_default_limits


@pytest.mark.parametrize(
    ("memory_mib", "threads", "expected"),
    [
        (1024, 2000, (512, 128, 4096)),
        (16 * 1024, 126_000, (15 * 1024, 3840, 32768)),
        (512 * 1024, 20_000, (480 * 1024, 120 * 1024, 10_000)),
    ],
)
def test_limits_leave_a_reserve(memory_mib: int, threads: int, expected: tuple[int, int, int]):
    limits = choose_limits(memory_mib=memory_mib, threads=threads)
    assert (limits.memory_mib, limits.shm_mib, limits.processes) == expected


def test_limits_of_this_machine_fit_into_it():
    total = int(Path("/proc/meminfo").read_text(encoding="ascii").split()[1]) // 1024
    assert 512 <= find_default_limits().memory_mib <= max(total, 512)


VERSION_2 = """
/sys/fs/cgroup/memory.events:low 0
/sys/fs/cgroup/memory.events:max 812
/sys/fs/cgroup/memory.events:oom 2
/sys/fs/cgroup/memory.events:oom_kill 3
/sys/fs/cgroup/memory.events:oom_group_kill 0
/sys/fs/cgroup/pids.events:max 7
disk:1000000 4096
"""
VERSION_1 = """
/sys/fs/cgroup/memory/memory.oom_control:oom_kill_disable 0
/sys/fs/cgroup/memory/memory.oom_control:under_oom 0
/sys/fs/cgroup/memory/memory.oom_control:oom_kill 3
/sys/fs/cgroup/pids/pids.events:max 7
disk:1000 4096
"""


@pytest.mark.parametrize(("lines", "disk_full"), [(VERSION_2, False), (VERSION_1, True)])
def test_counts_are_read_in_both_versions_of_cgroups(lines: str, disk_full: bool):
    expected = LimitHits(memory_kills=3, processes_refused=7, disk_full=disk_full)
    assert parse_hits(lines) == expected


def test_nothing_that_can_be_read_is_no_hit():
    assert parse_hits("") == LimitHits()
