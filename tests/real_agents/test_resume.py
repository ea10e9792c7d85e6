"""Agents that can continue a session do so after a kill of the runner, counted to the token."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from reb_action.agents.catalogue import AGENTS, load_packaged
from reb_action.model.agent import Ending, Resume
from tests.support.model_server import KEY

RESUMABLE = [name for name in AGENTS if load_packaged(name).resume]


def kill_at_the_second_command(layout):
    """Run `reb agent` in a process of its own, and kill that in the command that waits."""
    argv = (sys.executable, "-m", "reb_action.cli.main", "agent", str(layout.folder))
    environ = {**os.environ, "REB_MODEL_KEY": KEY}
    step = subprocess.Popen(argv, env=environ, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 180
    while _count_calls(layout) < 2:
        assert time.monotonic() < deadline, "it did not come to that"
        assert step.poll() is None, "it has ended"
        time.sleep(0.1)
    # By now it has written its session, and its command waits.
    time.sleep(8)
    step.send_signal(signal.SIGKILL)
    step.wait()


def _count_calls(layout):
    path = layout.conversation
    return len(path.read_text().splitlines()) if path.exists() else 0


@pytest.mark.parametrize("name", RESUMABLE)
def test_agent_continues_its_session_and_both_parts_are_counted(play, name):
    played = play(name, "waits-once", seconds=500, idle=400, during=kill_at_the_second_command)
    run = played.run
    (part,) = run.interruptions
    assert (run.ending, part.resumed) == (Ending.DONE, Resume.CONTINUE)
    assert played.report["python_path"] == "/workspace/venv/bin/python"
    assert run.usage.turns > part.usage.turns >= 2
    assert run.seconds > part.seconds > 6
    assert replace(run.usage, cost_usd=None) == replace(played.model.usage, cost_usd=None)
    # The session was continued, and not begun again: each command came once.
    assert run.usage.tool_calls == 4
