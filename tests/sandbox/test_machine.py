"""The defaults of a sandbox's limits come from the machine, less a reserve."""

from dataclasses import replace
from pathlib import Path

import pytest

from reb_action.model.limits import LimitHits
from reb_action.sandbox.cgroup import parse_hits, read_kills, show_group
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
/sys/fs/cgroup/memory/memory.max_usage_in_bytes:268435456
/sys/fs/cgroup/memory/memory.limit_in_bytes:268435456
/sys/fs/cgroup/pids/pids.events:max 7
disk:1000 4096
"""


@pytest.mark.parametrize(
    ("lines", "refused", "disk_full"),
    [
        (VERSION_2, 2, False),
        (VERSION_2.replace("oom 2", "oom 0"), 0, False),
        (VERSION_1, 3, True),
        (VERSION_1.replace("usage_in_bytes:26", "usage_in_bytes:25"), 0, True),
    ],
    ids=["version 2", "version 2, machine", "version 1", "version 1, machine"],
)
def test_counts_are_read_in_both_versions_of_cgroups(lines: str, refused: int, disk_full: bool):
    expected = LimitHits(memory_kills=3, processes_refused=7, disk_full=disk_full)
    assert parse_hits(lines) == replace(expected, memory_refused=refused)


def test_memory_that_the_kernel_takes_back_from_its_cache_is_no_hit():
    assert LimitHits(memory_refused=40).since(LimitHits(memory_refused=2)) == LimitHits()


def test_nothing_that_can_be_read_is_no_hit():
    assert parse_hits("") == LimitHits()


CGROUP = "sys/fs/cgroup"


@pytest.mark.parametrize(
    ("groups", "file"),
    [
        ("0::/user.slice/runner.service\n", f"{CGROUP}/user.slice/runner.service/memory.events"),
        ("0::/\n", f"{CGROUP}/memory.events"),
        ("0::/../other\n", f"{CGROUP}/memory.events"),
        ("9:memory:/docker/5f\n0::/\n", f"{CGROUP}/memory/docker/5f/memory.oom_control"),
        ("9:cpu,memory:/docker/5f\n", f"{CGROUP}/memory/memory.oom_control"),
        ("0::/\n", "proc/vmstat"),
        ("", "proc/vmstat"),
    ],
    ids=[
        "version 2",
        "version 2, own namespace",
        "version 2, outside of the namespace",
        "version 1",
        "version 1, own namespace",
        "no controller of memory",
        "no group",
    ],
)
def test_kills_are_counted_in_the_own_group(tmp_path: Path, groups: str, file: str):
    path = tmp_path / file
    path.parent.mkdir(parents=True)
    path.write_text("oom 8\noom_kill 5\noom_group_kill 9\n", encoding="ascii")
    assert read_kills(groups, root=tmp_path) == 5


def test_nothing_is_counted_where_nothing_can_be_read(tmp_path: Path):
    assert read_kills("0::/\n", root=tmp_path) == 0


IN_VERSION_1 = (
    "9:name=systemd:/docker/5f\n8:pids:/docker/5f\n4:cpu,memory:/docker/5f\n0::/docker/5f\n"
)


@pytest.mark.parametrize(
    ("groups", "lines", "below"),
    [
        ("0::/system.slice/docker-5f.scope\n", VERSION_2, "system.slice/docker-5f.scope/"),
        (IN_VERSION_1, VERSION_1, "docker/5f/"),
    ],
    ids=["version 2", "version 1"],
)
def test_group_of_a_container_shows_outside_what_it_shows_inside(
    tmp_path: Path, groups: str, lines: str, below: str
):
    for line in lines.strip().splitlines()[:-1]:
        path, _, text = line.removeprefix(f"/{CGROUP}/").partition(":")
        folder, _, file = path.rpartition("/")
        place = tmp_path / CGROUP / folder / below / file
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("a", encoding="ascii") as stream:
            stream.write(f"{text}\n")
    shown = show_group(groups, name="5f", root=tmp_path)
    assert shown is not None
    assert sorted(shown.split()) == sorted(lines.strip().rpartition("\n")[0].split())
    assert parse_hits(shown, disk_full=True) == replace(parse_hits(lines), disk_full=True)


@pytest.mark.parametrize(
    "groups", ["0::/\n", "0::/docker/6e\n", IN_VERSION_1.replace("8:pids:/docker/5f\n", "")]
)
def test_group_of_another_or_half_a_group_is_not_shown(tmp_path: Path, groups: str):
    for place in (
        "memory.events",
        "docker/6e/memory.events",
        "memory/docker/5f/memory.oom_control",
    ):
        path = tmp_path / CGROUP / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("oom_kill 1\n", encoding="ascii")
        (path.parent / "pids.events").write_text("max 1\n", encoding="ascii")
    assert show_group(groups, name="5f", root=tmp_path) is None
