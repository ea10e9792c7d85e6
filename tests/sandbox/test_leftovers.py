"""What a killed runner leaves is found and removed; what still lives, or is not ours, is not."""

import os
import platform
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from reb_action.errors import SandboxError
from reb_action.sandbox.docker.connection import connect
from reb_action.sandbox.docker.options import NETWORK
from reb_action.sandbox.local.processes import format_marker
from reb_action.sandbox.owner import format_labels, is_leftover, make_trace, parse_labels
from reb_action.sandbox.protocol import Kind, Limits, Network, Sandbox, SandboxSpec
from reb_action.sandbox.select import start, sweep
from tests.support.sandbox_fixtures import LIMITS, Start, docker_image, shell, spec_for

ROOT = Path(__file__).parents[2]

# Starts the sandbox of argv, leaves processes in it, and would wait for a long time.
OWNER = """
import sys
from pathlib import Path
from tests.support.sandbox_fixtures import shell, spec_for
from reb_action.sandbox import select
from reb_action.sandbox.protocol import Kind
sandbox = select.start(spec_for(Kind(sys.argv[1]), Path(sys.argv[2]), session=sys.argv[3]))
shell(sandbox, f"setsid env -i sleep {sys.argv[4]} >/dev/null 2>&1 &")
shell(sandbox, f"sleep {sys.argv[4]} & setsid env -i sleep {sys.argv[4]}", timeout_seconds=600)
"""

TRACE = make_trace(
    SandboxSpec(kind=Kind.LOCAL, session="s", trial="t", image=None, mount="/m", scratch="/s")
)


@pytest.mark.parametrize("kind", [Kind.LOCAL, pytest.param(Kind.DOCKER, marks=pytest.mark.docker)])
def test_sweep_ends_what_a_killed_owner_left(kind: Kind, tmp_path: Path):
    session = f"killed-{kind}-{tmp_path.parent.name}"
    mark = 3070000 + os.getpid() % 1000 + (1000 if kind is Kind.DOCKER else 0)
    owner = _start_owner(kind, tmp_path, session, mark)
    owner.send_signal(signal.SIGKILL)
    owner.communicate(timeout=20)
    assert session not in sweep(kind)
    assert _sleeping(mark) == 3
    shutil.rmtree(tmp_path / "mount")
    assert session in sweep(kind)
    assert _sleeping(mark) == 0


@pytest.mark.docker
def test_open_sandbox_starts_when_two_networks_have_its_name(tmp_path: Path):
    engine = connect()
    engine.ensure_network()
    first = start(spec_for(Kind.DOCKER, tmp_path / "first"))
    try:
        # While the first sandbox uses the older one, the newer one can go; then the other way.
        _start_beside_second_network(tmp_path / "second")
    finally:
        first.remove()
    _start_beside_second_network(tmp_path / "third")


def _start_beside_second_network(folder: Path) -> None:
    api = connect().client.api
    other = api.create_network(NETWORK, driver="bridge", check_duplicate=False)["Id"]
    sandbox = start(spec_for(Kind.DOCKER, folder))
    try:
        assert other not in {network["Id"] for network in api.networks()}
        sandbox.halt()
        sandbox.resume(network=Network.NONE)
        assert set(connect().inspect(sandbox.handle).networks) == {"none"}
    finally:
        sandbox.remove()


def test_sweep_leaves_the_living_alone(sandbox: Sandbox):
    shell(sandbox, "sleep 60 >/dev/null 2>&1 & sleep 1")
    assert sandbox.spec.session not in sweep(sandbox.spec.kind)
    assert sandbox.halt() == ("sleep",)


def test_sweep_of_all_takes_the_living_too(sandbox: Sandbox):
    shell(sandbox, "sleep 60 >/dev/null 2>&1 &")
    # Others may test on this machine at the same time.
    gone = sweep(sandbox.spec.kind, alive=lambda trace: trace.session != sandbox.spec.session)
    assert gone == (sandbox.spec.session,)


@pytest.mark.docker
def test_sweep_leaves_containers_of_others_alone():
    other = connect().client.containers.create(docker_image(), labels={"reb.session": "not-really"})
    try:
        sweep(Kind.DOCKER, alive=lambda trace: trace.session != "not-really")
        other.reload()
    finally:
        other.remove()


@pytest.mark.docker
def test_container_ends_by_itself(start: Start):
    sandbox = start(Kind.DOCKER, limits=replace(LIMITS, seconds=3))
    with pytest.raises(SandboxError, match="ended while a command ran"):
        shell(sandbox, "sleep 60")
    assert sandbox.spec.session in sweep(Kind.DOCKER)


@pytest.mark.docker
def test_restart_does_not_give_the_time_again(start: Start):
    sandbox = start(Kind.DOCKER, limits=replace(LIMITS, seconds=5))
    begun = time.monotonic()
    shell(sandbox, "sleep 60", timeout_seconds=2)
    with pytest.raises(SandboxError):
        shell(sandbox, "sleep 60")
    assert time.monotonic() - begun < 9


@pytest.mark.parametrize(
    ("trace", "alive", "expected"),
    [
        (TRACE, True, False),
        (TRACE, False, True),
        (replace(TRACE, boot="another"), True, True),
        (replace(TRACE, host="another"), False, False),
        (replace(TRACE, host="another", boot="another"), False, False),
        (replace(TRACE, host="another", expires=int(time.time()) - 1), True, True),
        (replace(TRACE, expires=int(time.time()) - 1), True, True),
    ],
)
def test_is_leftover(trace, alive, expected):
    assert is_leftover(trace, alive=lambda _: alive) is expected


def test_trace_is_read_from_its_labels():
    assert parse_labels(format_labels(TRACE)) == TRACE
    assert parse_labels({"reb.session": "s"}) is None
    assert parse_labels({**format_labels(TRACE), "reb.expires": "soon"}) is None


def test_trace_tells_machine_and_end():
    trace = make_trace(spec_for(Kind.LOCAL, Path("/f"), limits=Limits(seconds=100)))
    assert trace.host == platform.node()
    assert 98 < trace.expires - time.time() < 101
    assert "reb.mount=%2Ff%2Fmount" in format_marker(trace)


def _start_owner(kind: Kind, folder: Path, session: str, mark: int) -> subprocess.Popen[str]:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, kind, str(folder), session, str(mark)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    give_up = time.monotonic() + 30
    while _sleeping(mark) < 3 and time.monotonic() < give_up:
        time.sleep(0.05)
    return owner


def _sleeping(mark: int) -> int:
    """Count the processes on this machine that sleep for just so many seconds."""
    wanted = f"sleep\0{mark}\0".encode()
    found = 0
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            found += path.read_bytes() == wanted
    return found
