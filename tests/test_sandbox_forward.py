"""What listens on a socket of the harness is reached from a sandbox that has no network."""

import socketserver
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from sandbox_fixtures import Start, shell

from reb_action.errors import SandboxError
from reb_action.sandbox.forwarding import forward
from reb_action.sandbox.protocol import Kind, Network, Sandbox

PORT = 47801
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


class Echo(socketserver.StreamRequestHandler):
    """Says its server's name, then all it heard."""

    def handle(self) -> None:
        self.wfile.write(self.server.server_address.encode()[-5:] + b" " + self.rfile.read())


class Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "gateway"
    folder.mkdir()
    servers = [Server(str(folder / name), Echo) for name in ("model", "proxy")]
    for server in servers:
        Path(server.server_address).chmod(0o666)
        threading.Thread(target=server.serve_forever, daemon=True).start()
    yield folder
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def sandbox(start: Start, folder: Path) -> Sandbox:
    made = start(Kind.DOCKER, network=Network.NONE, gateway_mount=str(folder))
    forward(made, {PORT: "model", PORT + 1: "proxy"})
    return made


def call(sandbox: Sandbox, port: int, size: int = 4) -> str:
    ended = shell(sandbox, f"python3 -c '{CALL}' {port} {size}")
    return ended.stdout.decode().strip() or ended.stderr.decode().strip().splitlines()[-1]


@pytest.mark.docker
def test_each_port_leads_to_its_socket(sandbox: Sandbox):
    assert call(sandbox, PORT) == "model xxxx 10"
    assert call(sandbox, PORT + 1) == "proxy xxxx 10"
    assert call(sandbox, PORT, 8_000_000) == "model xxxxxxxxxxxxxx 8000006"


@pytest.mark.docker
def test_agent_cannot_cut_itself_off(sandbox: Sandbox):
    shell(sandbox, "pkill -9 -f python; pkill -9 reb; kill -9 -1")
    assert call(sandbox, PORT) == "model xxxx 10"


@pytest.mark.docker
def test_freeze_ends_it_and_counts_it_as_nobodys(sandbox: Sandbox, folder: Path):
    assert sandbox.halt() == ()
    sandbox.resume(network=Network.NONE)
    assert call(sandbox, PORT) == "ConnectionRefusedError: [Errno 111] Connection refused"
    assert sorted(path.name for path in folder.iterdir()) == ["model", "proxy"]


@pytest.mark.docker
def test_dead_socket_closes_the_connection(sandbox: Sandbox, folder: Path):
    (folder / "model").unlink()
    listen = f'import socket; print(socket.create_connection(("127.0.0.1", {PORT}), 20).recv(1))'
    assert shell(sandbox, f"python3 -c '{listen}'").stdout == b"b''\n"


@pytest.mark.docker
def test_port_in_use_is_explained(sandbox: Sandbox):
    with pytest.raises(
        SandboxError, match=r"gateway \(OSError: \[Errno 98\] Address already in use"
    ):
        forward(sandbox, {PORT: "model"})
