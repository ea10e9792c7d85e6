"""What a command of a local sandbox is kept from, where the machine has namespaces."""

import os
import platform
from dataclasses import replace
from pathlib import Path

import pytest

from reb_action.sandbox import select
from reb_action.sandbox.local.isolation import Isolation, find_isolation
from reb_action.sandbox.protocol import Command, Kind, Sandbox
from tests.support.sandbox_fixtures import shell, spec_for

pytestmark = pytest.mark.skipif(
    find_isolation() is Isolation.NONE, reason="this machine allows no PID namespaces"
)

# chown, dac_override, fowner, fsetid, kill, setgid, setuid, setpcap, net_bind_service, net_raw,
# sys_chroot, mknod, audit_write, setfcap: what Docker gives to a container.
DOCKERS = 0x00000000A80425FB

ASK = """
import ctypes, errno, os, sys
libc = ctypes.CDLL(None, use_errno=True)
NEWUSER, SIGCHLD = 0x10000000, 17
clone = {"x86_64": 56, "aarch64": 220}[os.uname().machine]
for name, result in (
    ("unshare", lambda: libc.unshare(NEWUSER)),
    ("clone", lambda: libc.syscall(clone, NEWUSER | SIGCHLD, 0, 0, 0, 0)),
    ("clone3", lambda: libc.syscall(435, 0, 0)),
    ("unshare of files", lambda: libc.unshare(0x400)),
):
    print(name, "works" if result() == 0 else errno.errorcode[ctypes.get_errno()])
"""


def python(sandbox: Sandbox, code: str, *arguments: str) -> str:
    argv = (sandbox.trusted_python, "-I", "-S", "-c", code, *arguments)
    command = Command(argv=argv, cwd=sandbox.layout.workspace, timeout_seconds=60)
    ended = sandbox.run(command)
    return (ended.stdout + ended.stderr).decode().strip()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has capabilities")
def test_root_has_the_capabilities_of_dockers_default_and_no_others(scratch: Sandbox):
    status = shell(scratch, "cat /proc/self/status").stdout.decode()
    found = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    held = {name: int(found[name], 16) for name in ("CapPrm", "CapEff", "CapBnd")}
    own = int(Path("/proc/self/status").read_text().split("CapPrm:\t")[1].split()[0], 16)
    assert held == dict.fromkeys(held, DOCKERS & own)
    assert (found["CapInh"], found["CapAmb"]) == ("0" * 16, "0" * 16)


@pytest.mark.parametrize(
    "place",
    [
        "/proc/sysrq-trigger",
        "/proc/sys/kernel/core_pattern",
        "/proc/sys/kernel/pid_max",
        "/sys/kernel/uevent_helper",
        "/sys/fs/cgroup/cgroup.procs",
        "/sys/fs/cgroup/freezer/cgroup.procs",
        "/sys/fs/cgroup/unified/cgroup.procs",
    ],
)
def test_no_place_that_reaches_all_processes_is_writable(scratch: Sandbox, place: str):
    if not Path(place).exists():
        pytest.skip(f"this machine has no {place}")
    # Opened and nothing written: what it would do here is not to be tried.
    opened = python(scratch, f"import os; os.close(os.open({place!r}, os.O_WRONLY))")
    assert "Read-only file system" in opened or "Permission denied" in opened


@pytest.mark.skipif(platform.machine() not in ("x86_64", "aarch64"), reason="other numbers")
def test_no_user_namespace_gives_every_capability_back(scratch: Sandbox):
    assert python(scratch, ASK).splitlines() == [
        "unshare EPERM",
        "clone EPERM",
        "clone3 ENOSYS",
        "unshare of files works",
    ]


def test_threads_and_processes_start_all_the_same(scratch: Sandbox):
    code = """
import subprocess, threading
thread = threading.Thread(target=lambda: print(subprocess.check_output(["echo", "started"])))
thread.start()
thread.join()
"""
    assert python(scratch, code) == "b'started\\n'"


def test_what_the_harness_has_beside_the_sandbox_is_read_only(scratch: Sandbox, tmp_path: Path):
    (tmp_path / "source").mkdir()
    layout = scratch.layout
    places = f"{layout.tools} {tmp_path}/mount {tmp_path}/source {tmp_path} {layout.home} /tmp"
    ended = shell(scratch, f"for d in {places}; do touch $d/reb-probe 2>/dev/null && echo $d; done")
    Path("/tmp/reb-probe").unlink()
    assert ended.stdout.decode().split() == [layout.home, "/tmp"]
    assert b"Read-only" in shell(scratch, f"mv {tmp_path} {tmp_path}-other").stderr


def test_results_of_a_trial_are_read_only_to_what_it_measures(tmp_path: Path):
    folder = tmp_path / "trial"
    spec = spec_for(Kind.LOCAL, tmp_path)
    work = folder / "work"
    spec = replace(spec, mount=str(work / "mount"), scratch=str(work / "sandbox"))
    (folder / "levels").mkdir(parents=True)
    (folder / "levels" / "C0.json").touch()
    sandbox = select.start(spec)
    try:
        shell(sandbox, f"echo x >> {folder}/levels/C0.json; touch {folder}/new {tmp_path}/other")
        assert b"busy" in shell(sandbox, f"mv {folder} {folder}-other").stderr
    finally:
        sandbox.remove()
    assert (folder / "levels" / "C0.json").read_bytes() == b""
    assert sorted(path.name for path in folder.iterdir()) == ["levels", "work"]
    # The folders of other trials are beside it: files of this machine.
    assert (tmp_path / "other").exists()
