"""What a container is kept from, and what it is told apart by."""

import json
import platform
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from docker.types import DeviceRequest, LogConfig, Mount

from reb_action.errors import SandboxError
from reb_action.sandbox.capture import Capture
from reb_action.sandbox.docker.connection import connect
from reb_action.sandbox.docker.options import container_options
from reb_action.sandbox.docker.stream import Demux
from reb_action.sandbox.owner import Trace
from reb_action.sandbox.protocol import (
    Command,
    FileFault,
    Kind,
    Limits,
    Network,
    Sandbox,
    SandboxSpec,
    User,
)
from reb_action.sandbox.select import start as start_sandbox
from tests.support.memory import eat_memory
from tests.support.sandbox_fixtures import Start, archive, shell, spec_for

GIB = 1024**3
X86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="the program is of x86-64")
TRACE = Trace(session="s1", trial="t1", mount="/w/mount", host="h", boot="b", expires=1800000000)
SPEC = SandboxSpec(
    kind=Kind.DOCKER,
    session="s1",
    trial="t1",
    image="image@sha256:0",
    mount="/w/mount",
    scratch="/w/scratch",
    limits=Limits(memory_mib=2048, shm_mib=1024, processes=99, seconds=60),
)
OPTIONS = {
    "image": "image@sha256:0",
    "name": "reb-s1",
    "entrypoint": [
        "/bin/sh",
        "-c",
        'exec sleep "$(($(cat "$2" 2>/dev/null || echo "$1") - $(date +%s)))"',
        "sh",
    ],
    "command": ["1800000000", "/opt/reb/lease"],
    "storage_opt": None,
    "user": "0:0",
    "working_dir": "/",
    "hostname": "sandbox",
    "extra_hosts": {"sandbox": "127.0.0.1"},
    "init": True,
    "healthcheck": {"test": ["NONE"]},
    "labels": {
        "reb.session": "s1",
        "reb.trial": "t1",
        "reb.mount": "/w/mount",
        "reb.host": "h",
        "reb.boot": "b",
        "reb.expires": "1800000000",
    },
    "mounts": [Mount("/opt/reb", "/w/mount", type="bind", read_only=True)],
    "network": "reb",
    "cap_drop": ["ALL"],
    "cap_add": [],
    "security_opt": ["no-new-privileges"],
    "ipc_mode": "private",
    "pids_limit": 99,
    "mem_limit": 2 * GIB,
    "memswap_limit": 2 * GIB,
    "shm_size": GIB,
    "log_config": LogConfig(type="none"),
    "device_requests": [],
    "use_config_proxy": False,
}


def test_options_are_these_and_no_others():
    assert container_options(SPEC, TRACE, image="image@sha256:0") == OPTIONS


def test_options_without_network_and_with_gpus():
    options = container_options(
        replace(SPEC, gpus=2, network=Network.NONE), TRACE, image="image@sha256:0"
    )
    gpus = DeviceRequest(count=2, capabilities=[["gpu", "compute", "utility"]])
    assert options == {**OPTIONS, "network": "none", "device_requests": [gpus]}


def test_options_with_the_mounts_of_an_agent_that_asks_a_model():
    spec = replace(SPEC, agent_mount="/c/claude", gateway_mount="/w/g", network=Network.ALLOWED)
    mounts = [
        *OPTIONS["mounts"],
        Mount("/opt/cli", "/c/claude", type="bind", read_only=True),
        Mount("/opt/gateway", "/w/g", type="bind", read_only=True),
    ]
    options = container_options(spec, TRACE, image="image@sha256:0")
    assert options == {**OPTIONS, "mounts": mounts, "network": "none"}


def test_demux_sorts_frames_wherever_they_are_cut():
    frames = (
        b"\x01\0\0\0\0\0\0\x03out\x02\0\0\0\0\0\0\x03err\x01\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\x01!"
    )
    for size in range(1, len(frames)):
        out, err = Capture(100, pass_on=None), Capture(100, pass_on=None)
        demux = Demux(out, err)
        for at in range(0, len(frames), size):
            demux.feed(frames[at : at + size])
        assert (out.kept(), err.kept()) == (b"out!", b"err")


@pytest.mark.docker
@pytest.mark.parametrize("user", list(User))
def test_no_user_has_privileges(container: Sandbox, user: User):
    status = shell(container, "cat /proc/self/status", user=user).stdout.decode()
    found = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    sets = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
    assert {found[name] for name in sets} == {"0" * 16}
    assert found["NoNewPrivs"] == "1"
    assert found["Seccomp"].strip() == "2"
    assert found["Uid"].split() == (["1000"] * 4 if user is User.AGENT else ["0"] * 4)


@pytest.mark.docker
def test_neither_socket_nor_devices_nor_host_processes_are_inside(container: Sandbox):
    ended = shell(
        container, "ls -d /run/docker.sock /var/run/docker.sock /dev/sd* /dev/vd* /dev/kvm"
    )
    assert ended.stdout == b""
    assert shell(container, "cat /proc/1/comm; hostname").stdout == b"docker-init\nsandbox\n"


@pytest.mark.docker
def test_agent_cannot_end_what_keeps_the_container(container: Sandbox):
    assert shell(container, "kill -9 1").exit_code != 0
    shell(container, "kill -9 -1")
    assert shell(container, "echo still here").stdout == b"still here\n"


@pytest.mark.docker
def test_agent_writes_its_own_places_alone(container: Sandbox):
    places = "/workspace /home/agent /tmp /dev/shm /opt/reb /usr/bin / /etc"
    ended = shell(container, f"for d in {places}; do touch $d/x 2>/dev/null && echo $d; done")
    assert ended.stdout.decode().split() == ["/workspace", "/home/agent", "/tmp", "/dev/shm"]


@pytest.mark.docker
def test_mount_is_read_only_for_root_too(container: Sandbox):
    ended = shell(container, "touch /opt/reb/x", user=User.ROOT)
    assert b"Read-only file system" in ended.stderr


@pytest.mark.docker
def test_put_gives_the_files_to_the_user(container: Sandbox):
    container.put("/workspace/repo", archive({"a/x": b""}))
    container.put("/opt/agent", archive({"bin/x": b""}), user=User.ROOT)
    paths = "/workspace /workspace/repo /workspace/repo/a /workspace/repo/a/x /opt /opt/agent/bin/x"
    owners = shell(container, f"stat -c %u {paths}").stdout.split()
    assert owners == [b"1000", b"1000", b"1000", b"1000", b"0", b"0"]


@pytest.mark.docker
def test_put_stays_out_of_the_system(container: Sandbox):
    with pytest.raises(SandboxError, match="reb may not write files to"):
        container.put("/usr/bin", archive({"python3": b""}))


@pytest.mark.docker
def test_open_sandbox_loses_its_network_for_good(container: Sandbox):
    assert "eth0" in shell(container, "ls /sys/class/net").stdout.decode()
    container.halt()
    container.resume(network=Network.NONE)
    assert shell(container, "ls /sys/class/net").stdout == b"lo\n"
    assert shell(container, "sleep 60", timeout_seconds=0.5).timed_out
    container.halt()
    container.resume(network=Network.OPEN)
    call = 'import socket as s; s.create_connection(("1.1.1.1", 80), 3)'
    ended = shell(container, f"ls /sys/class/net; python3 -c '{call}'")
    assert ended.stdout == b"lo\n"
    assert b"Network is unreachable" in ended.stderr


@pytest.mark.docker
def test_allowed_hosts_mean_no_network(start: Start):
    sandbox = start(Kind.DOCKER, network=Network.ALLOWED)
    assert shell(sandbox, "ls /sys/class/net").stdout == b"lo\n"
    sandbox.halt()
    sandbox.resume(network=Network.ALLOWED)
    assert shell(sandbox, "ls /sys/class/net").stdout == b"lo\n"


@pytest.mark.docker
def test_own_name_is_known_without_a_network(container: Sandbox):
    container.halt()
    container.resume(network=Network.NONE)
    look = "import socket; print(socket.gethostbyname(socket.gethostname()))"
    assert shell(container, f"python3 -c '{look}'").stdout == b"127.0.0.1\n"


@pytest.mark.docker
def test_sandboxes_cannot_reach_one_another(container: Sandbox, tmp_path: Path):
    listen = 'import socket as s; l = s.create_server(("0.0.0.0", 7777)); l.accept()'
    shell(container, f"python3 -c '{listen}' >/dev/null 2>&1 &")
    address = shell(container, "hostname -I | cut -d\\  -f1").stdout.decode().strip()
    call = f'import socket as s; s.create_connection(("{address}", 7777), 2)'
    assert shell(container, f"sleep 0.5; python3 -c '{call}'").exit_code == 0
    other = start_sandbox(spec_for(Kind.DOCKER, tmp_path / "other"))
    try:
        assert shell(other, f"python3 -c '{call}'").exit_code != 0
    finally:
        other.remove()


@pytest.mark.docker
def test_secret_stands_in_no_document_of_the_engine(container: Sandbox):
    command = Command(
        argv=("/bin/sh", "-c", "grep -al s3cret /proc/[0-9]*/cmdline; cat /proc/1/environ"),
        cwd="/",
        timeout_seconds=20,
        env={"PATH": "/usr/bin:/bin"},
        secret_env={"KEY": "s3cret"},
    )
    said = container.run(command).stdout
    assert b"s3cret" not in said.replace(b"/proc/self/cmdline", b"")
    client = connect().client
    documents = [client.api.inspect_container(container.handle), client.api.df()]
    assert "s3cret" not in json.dumps(documents)


@pytest.mark.docker
def test_fork_bomb_is_contained(container: Sandbox):
    ended = shell(container, "bomb() { bomb | bomb & }; bomb; sleep 3", timeout_seconds=8)
    assert ended.seconds < 20
    container.halt()
    container.resume(network=Network.NONE)
    assert shell(container, "echo again").stdout == b"again\n"


@pytest.mark.docker
def test_memory_is_limited(container: Sandbox):
    ended = shell(container, "python3 -c 'x = b\"x\" * 700_000_000'")
    assert ended.exit_code == 128 + 9
    assert shell(container, "echo again").stdout == b"again\n"


@X86
@pytest.mark.docker
@pytest.mark.parametrize("way", ["exec {}", "({}) >/dev/null 2>&1 & sleep 20"])
def test_command_that_uses_up_all_memory_ends_the_container_and_is_to_blame(container, way):
    ended = shell(container, way.format(f"sh -c '{eat_memory()}'"))
    assert (ended.exit_code, ended.is_out_of_memory) == (137, True)
    # It goes on, and nothing of it is left.
    assert container.clear() == ()
    again = shell(container, "echo again; tail -n +2 /proc/sysvipc/shm")
    assert (again.stdout, again.is_out_of_memory) == (b"again\n", False)


@X86
@pytest.mark.docker
def test_leftover_that_uses_up_all_memory_is_named(container: Sandbox):
    shell(container, f"(sleep 0.3; {eat_memory()}) >/dev/null 2>&1 &")
    while connect().inspect(container.handle).is_running:
        time.sleep(0.1)
    assert container.clear() == ("(out of memory)",)
    assert shell(container, "echo again").stdout == b"again\n"


@X86
@pytest.mark.docker
def test_freeze_goes_on_in_a_container_that_ran_out_of_memory(container: Sandbox):
    shell(container, f"echo kept > report.json; (sleep 0.3; {eat_memory()}) >/dev/null 2>&1 &")
    while connect().inspect(container.handle).is_running:
        time.sleep(0.1)
    assert container.halt() == ()
    assert container.read(container.layout.report, limit_bytes=10) == b"kept\n"
    container.resume(network=Network.NONE)
    assert shell(container, "echo again").stdout == b"again\n"


@pytest.mark.docker
@pytest.mark.parametrize("stop", ["stop", "kill"])
def test_container_that_was_stopped_is_no_fault_of_its_command(container: Sandbox, stop: str):
    end = getattr(connect().client.containers.get(container.handle), stop)
    timer = threading.Timer(1.0, end)
    timer.start()
    with pytest.raises(SandboxError, match="or it was stopped"):
        shell(container, "sleep 60")
    timer.join()


@pytest.mark.docker
def test_places_to_build_in_are_on_disk(container: Sandbox):
    kinds = shell(container, "stat -f -c %T /workspace /home/agent /tmp /opt/agent /dev/shm")
    *disk, shm = kinds.stdout.split()
    assert b"tmpfs" not in disk
    assert shm == b"tmpfs"


@pytest.mark.docker
def test_read_sees_no_device(container: Sandbox):
    assert container.read("/dev/null", limit_bytes=10) in (FileFault.NOT_A_FILE, FileFault.MISSING)


@pytest.mark.docker
def test_missing_image_is_explained(tmp_path: Path):
    with pytest.raises(SandboxError, match=r"of reb-none:1: No such image; build or pull it on"):
        start_sandbox(replace(spec_for(Kind.DOCKER, tmp_path), image="reb-none:1"))


@pytest.mark.docker
def test_promised_gpu_that_is_not_there_is_explained(tmp_path: Path):
    spec = replace(spec_for(Kind.DOCKER, tmp_path), gpus=64)
    with pytest.raises(SandboxError, match=r"NVIDIA container toolkit|nvidia-smi"):
        start_sandbox(spec)
    assert not any(item.labels["reb.session"] == spec.session for item in connect().ours())


@pytest.mark.parametrize(
    ("host", "said"),
    [
        ("unix:///nowhere/docker.sock", "start the Docker engine, or set DOCKER_HOST"),
        ("tcp://10.0.0.1:2375", "set it to the Unix socket of an engine of this machine"),
    ],
)
def test_unreachable_engine_is_explained(monkeypatch: pytest.MonkeyPatch, host, said):
    monkeypatch.setenv("DOCKER_HOST", host)
    with pytest.raises(SandboxError, match=said):
        connect.__wrapped__()
