"""What a signal leaves of a start that installs an agent's program, which takes its time."""

import os
import signal
import socket
import sys
import time
from pathlib import Path

import pytest

from reb_action.sandbox.docker.connection import connect
from reb_action.sandbox.protocol import Kind
from reb_action.session.layout import SessionLayout
from tests.act.cancelling import (
    SIGNALS,
    assert_next_trial_works,
    given_to,
    patience,
    processes_of,
    reb,
    seen,
    until,
)

AGENT = """\
name: late
title: Late
argv: ["{cli}/venv/bin/late"]
install: { pypi: late-agent, version: "1.0" }
"""


@pytest.fixture
def index():
    """A package index that takes every question and answers none."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/simple"


def containers_of(cache):
    return [one.id for one in connect().ours() if one.labels["reb.mount"].startswith(str(cache))]


@pytest.mark.parametrize("number", SIGNALS, ids=lambda one: one.name)
def test_signal_while_a_program_is_installed_leaves_nothing_after_the_next_start(
    place, tmp_path, index, kind, number
):
    folder, cache = tmp_path / "trial", tmp_path / "cache"
    (tmp_path / "late.yaml").write_text(AGENT)
    given = given_to(place, SessionLayout(folder=folder), kind)
    given |= {"REB_AGENT": str(tmp_path / "late.yaml"), "REB_CACHE": str(cache)}
    given |= {"UV_DEFAULT_INDEX": index, "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
    running = reb("start", place / "tiny.yaml", **given)
    docker = kind is Kind.DOCKER
    until(lambda: containers_of(cache) if docker else installs(cache))
    sent = time.monotonic()
    running.send_signal(number)
    assert running.wait(timeout=patience()) in {130, -signal.SIGKILL}
    seen(f"{kind} install {number.name}", exit=time.monotonic() - sent)
    if number is not signal.SIGKILL:
        assert not (containers_of(cache) if docker else installs(cache))
    assert_next_trial_works(place, tmp_path / "other", kind)
    assert not (containers_of(cache) if docker else installs(cache))
    assert not folder.exists()


def installs(cache):
    """Return the processes that fill a folder of the cache."""
    found = processes_of(cache)
    return [pid for pid, words in found.items() if "pip\0install" in words and pid != os.getpid()]
