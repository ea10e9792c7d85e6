"""What listens on a socket of the harness is reached from a sandbox that has no network."""

import os
import resource
import signal
import socket
import socketserver
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from reb_action.errors import SandboxError
from reb_action.sandbox import port_forward
from reb_action.sandbox.port_forward import PORT, SOCKET, forward
from reb_action.sandbox.protocol import Kind, Network, Sandbox
from tests.support.sandbox_fixtures import Start, shell

CALL = """
import socket, sys
call = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 20)
call.sendall(b"x" * int(sys.argv[2]))
call.shutdown(socket.SHUT_WR)
got = b""
while data := call.recv(65536):
    got += data
print(got[:20].decode(), len(got))
"""


FULL = """
import socket, subprocess, sys
def heard():
    with socket.create_connection(("127.0.0.1", int(sys.argv[1])), 20) as call:
        try:
            call.sendall(b"x")
            call.shutdown(socket.SHUT_WR)
            return call.recv(64)
        except OSError:
            return b""
own = []
try:
    while True:
        own.append(subprocess.Popen(["sleep", "60"]))
except BlockingIOError:
    print(heard(), heard())
for one in own:
    one.kill()
    one.wait()
print(heard(), heard())
"""


class Echo(socketserver.StreamRequestHandler):
    """Says all it heard."""

    def handle(self) -> None:
        self.wfile.write(b"heard " + self.rfile.read())


class Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "gateway"
    folder.mkdir()
    with Server(str(folder / SOCKET), Echo) as server:
        (folder / SOCKET).chmod(0o666)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield folder
        server.shutdown()


@pytest.fixture
def sandbox(start: Start, folder: Path) -> Sandbox:
    made = start(Kind.DOCKER, network=Network.NONE, gateway_mount=str(folder))
    forward(made)
    return made


def call(sandbox: Sandbox, size: int = 4) -> str:
    ended = shell(sandbox, f"python3 -c '{CALL}' {PORT} {size}")
    return ended.stdout.decode().strip() or ended.stderr.decode().strip().splitlines()[-1]


@pytest.mark.docker
def test_port_leads_to_the_socket(sandbox: Sandbox):
    assert call(sandbox) == "heard xxxx 10"
    assert call(sandbox, 8_000_000) == "heard xxxxxxxxxxxxxx 8000006"


@pytest.mark.docker
def test_agent_cannot_cut_itself_off(sandbox: Sandbox):
    shell(sandbox, "pkill -9 -f python; pkill -9 reb; kill -9 -1")
    assert call(sandbox) == "heard xxxx 10"


@pytest.mark.docker
def test_agent_at_its_limit_of_processes_has_its_model_again(sandbox: Sandbox):
    ended = shell(sandbox, f"python3 -c '{FULL}' {PORT}")
    assert ended.stdout == b"b'' b''\nb'heard x' b'heard x'\n"


@pytest.mark.docker
def test_freeze_ends_it_and_counts_it_as_nobodys(sandbox: Sandbox):
    assert sandbox.halt() == ()
    sandbox.resume(network=Network.NONE)
    assert call(sandbox) == "ConnectionRefusedError: [Errno 111] Connection refused"


@pytest.mark.docker
def test_dead_socket_closes_the_connection(sandbox: Sandbox, folder: Path):
    (folder / SOCKET).unlink()
    listen = f'import socket; print(socket.create_connection(("127.0.0.1", {PORT}), 20).recv(1))'
    assert shell(sandbox, f"python3 -c '{listen}'").stdout == b"b''\n"


@pytest.mark.docker
def test_port_in_use_is_explained(sandbox: Sandbox):
    with pytest.raises(
        SandboxError, match=r"gateway \(OSError: \[Errno 98\] Address already in use"
    ):
        forward(sandbox)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def _pid(command: bytes) -> int:
    """Return the process whose command line holds this."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if command in (folder / "cmdline").read_bytes():
                return int(folder.name)
        except OSError:
            continue
    raise AssertionError(command)


@pytest.fixture
def here(folder: Path) -> Iterator[tuple[int, int]]:
    """A forwarder outside any sandbox: its port and its process."""
    port, path = _free_port(), str(folder / SOCKET)
    script = (Path(port_forward.__file__).parent / "inside" / "forward.py").read_bytes()
    argv = (sys.executable, "-I", "-S", "-", str(port), path)
    subprocess.run(argv, input=script, check=True, timeout=20)
    pid = _pid(path.encode())
    yield port, pid
    os.kill(pid, signal.SIGKILL)


def _heard(port: int) -> bytes:
    with socket.create_connection(("127.0.0.1", port), 20) as call:
        try:
            call.sendall(b"x")
            with suppress(OSError):
                call.shutdown(socket.SHUT_WR)
            return call.recv(64)
        except ConnectionError:
            return b""


def test_connection_without_a_thread_is_closed_and_the_next_is_served(here: tuple[int, int]):
    port, pid = here
    # No address space is left for the stack of one more thread.
    before = resource.prlimit(pid, resource.RLIMIT_AS, (1 << 20, resource.RLIM_INFINITY))
    assert [_heard(port), _heard(port)] == [b"", b""]
    resource.prlimit(pid, resource.RLIMIT_AS, before)
    assert _heard(port) == b"heard x"


def test_connection_waits_where_no_file_can_be_opened(here: tuple[int, int]):
    port, pid = here
    before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (1, before[1]))
    # The wait for this one began before the limit, so that it alone is taken.
    assert _heard(port) == b""
    with socket.create_connection(("127.0.0.1", port), 20) as call:
        call.sendall(b"x")
        call.shutdown(socket.SHUT_WR)
        call.settimeout(0.3)
        with pytest.raises(TimeoutError):
            call.recv(64)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, before)
        call.settimeout(20)
        assert call.recv(64) == b"heard x"
