"""What a signal leaves of an agent that waits for its model, with a way out open beside it."""

import os
import socket
import time
from dataclasses import replace

import pytest

from reb_action.model.agent import Dialect, Ending
from reb_action.sandbox.port_forward import FORWARDER, SOCKET
from reb_action.sandbox.protocol import Kind, Network
from reb_action.session.layout import SessionLayout
from reb_action.session.state import ModelChoice
from reb_action.trial import agent, start, stop
from tests.act.cancelling import (
    SIGNALS,
    assert_nothing_is_left,
    options,
    patience,
    processes_of,
    reb,
    seen,
    silent,
    until,
)
from tests.support.model_server import KEY, ModelServer
from tests.support.talker import talker

ENVIRON = {"REB_MODEL_KEY": KEY}
TUNNEL = """\
import socket
host, _, port = os.environ["https_proxy"].partition("//")[2].partition(":")
tunnel = socket.create_connection((host, int(port)))
tunnel.sendall(b"CONNECT 127.0.0.1:%d HTTP/1.1\\r\\n\\r\\n")
"""
"""What the agent does first: it opens a way out, and keeps it."""


@pytest.fixture(scope="module")
def server():
    with ModelServer() as one:
        yield one


@pytest.fixture
def far():
    """A host that the agent may reach."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(60)
        yield listening


def asking(place, folder, server, scenario, *, kind, far):
    """Return the options of a trial whose agent asks a model, and may reach one host."""
    plain = options(place, folder, "honest", kind=kind)
    port = far.getsockname()[1]
    url = server.url(Dialect.ANTHROPIC, scenario, run=run_of(folder))
    choice = replace(
        plain.agent,
        name=str(talker(folder.parent, first=TUNNEL % port)),
        argument=None,
        model=ModelChoice(name="scripted-1", url=url),
        hosts=(f"127.0.0.1:{port}",),
    )
    network = Network.ALLOWED if kind is Kind.DOCKER else Network.OPEN
    return replace(plain, agent=choice, network=network)


def run_of(folder):
    """Return the name by which the model knows the run of a trial."""
    return f"{folder.parent.name}-{folder.name}"


def caught(layout, server, far):
    """Start the agent; return it, and the far end of its way out, once it waits for its model."""
    running = reb("agent", layout.folder, **ENVIRON)
    way, _ = far.accept()
    way.settimeout(60)
    until(lambda: server.run(run_of(layout.folder)).statuses)
    return running, way


@pytest.mark.parametrize("number", SIGNALS, ids=lambda one: one.name)
def test_signal_while_a_model_is_asked_leaves_nothing(
    place, tmp_path, worker, server, far, kind, number
):
    chosen = asking(place, tmp_path / "trial", server, "silence", kind=kind, far=far)
    before = start.start(chosen, owner=worker.pid, tell=silent)
    layout = SessionLayout(folder=chosen.folder)
    running, way = caught(layout, server, far)
    assert any(FORWARDER in name for name in names(before)) is (kind is Kind.DOCKER)
    assert (layout.gateway / SOCKET).exists() is (kind is Kind.DOCKER)
    sent = time.monotonic()
    running.send_signal(number)
    killed = number == SIGNALS[-1]
    assert running.wait(timeout=patience()) == (-number if killed else 130)
    ended = time.monotonic() - sent
    # Nobody holds the way out any more, and no gateway listens.
    assert way.recv(1) == b""
    way.close()
    if killed:
        worker.kill()
        worker.wait()
    else:
        assert reb("stop", layout.folder).wait(timeout=patience()) == 0
        taken = time.monotonic() - sent
        seen(f"{kind} model {number.name}", exit=ended, clean=taken)
        assert_nothing_is_left(layout, before)
        assert taken < patience(), f"{taken:.1f} s"
    assert_next_agent_works(place, tmp_path / "next", server, kind=kind, far=far)
    assert_nothing_is_left(layout, before)
    assert not [path for path in layout.folder.rglob("*") if holds_key(path)]


def assert_next_agent_works(place, folder, server, *, kind, far):
    """Let an agent work to its end through a gateway of its own."""
    chosen = asking(place, folder, server, "multi", kind=kind, far=far)
    start.start(chosen, owner=os.getpid(), tell=silent)
    layout = SessionLayout(folder=folder)
    try:
        done = agent.run_agent(layout, environ=ENVIRON, tell=silent)
    finally:
        stop.stop(layout, tell=silent)
    assert done.ending is Ending.DONE
    assert done.usage == server.run(run_of(folder)).usage


def names(begun):
    """Return the names of the processes inside."""
    for pid in processes_of(begun.handle):
        with open(f"/proc/{pid}/comm", encoding="utf-8") as file:  # noqa: PTH123
            yield file.read().strip()


def holds_key(path):
    return path.is_file() and KEY.encode() in path.read_bytes()
