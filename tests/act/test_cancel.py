"""What a cancelled job leaves: signals to each step, as the runner sends them."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from act_consumer import HERE, make_mirror

from reb_action import manifest, session, trial
from reb_action.layout import SessionLayout
from reb_action.sandbox.protocol import Kind
from reb_action.session import AgentChoice

MAIN = HERE.parent.parent / "reb_action" / "__main__.py"
PATIENCE_SECONDS = 5
"""For a step to end; with the stop after it, three times that on a machine with other work."""


def silent(_line):
    pass


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with the tiny repository, whose entry point takes its time, and its manifest."""
    place = tmp_path_factory.mktemp("cancel")
    slow = '-c, "import main; import time; time.sleep(50)"]'
    (place / "tiny.yaml").write_text(make_mirror(place).replace('main.py, "{out}"]', slow))
    return place


def options(place, folder, agent):
    choice = AgentChoice(
        name="replay", argument=str(HERE / "agents" / agent), total_seconds=60, setup_seconds=60
    )
    return trial.Options(
        manifest=manifest.load(place / "tiny.yaml"),
        agent=choice,
        folder=folder,
        kind=Kind.LOCAL,
        mirror=place / "mirror",
    )


def reb(*arguments, **env):
    return subprocess.Popen(
        [sys.executable, "-I", MAIN, *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={"PATH": "/usr/bin:/bin", **env},
    )


def processes_of(marker):
    """Return the processes of a sandbox that are alive."""
    found = []
    for place in Path("/proc").glob("[0-9]*/environ"):
        try:
            if marker.encode() in place.read_bytes():
                found.append(int(place.parent.name))
        except OSError:
            continue
    return found


def until(condition):
    give_up = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < give_up, "it did not come to that"
        time.sleep(0.02)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda one: one.name)
@pytest.mark.parametrize("phase", ["agent", "C0", "C1"])
def test_signal_ends_a_step_and_stop_cleans_up(place, tmp_path, phase, number):
    folder = tmp_path / "trial"
    trial.start(
        options(place, folder, "slow" if phase == "agent" else "honest"),
        owner=os.getpid(),
        tell=silent,
    )
    layout = SessionLayout(folder=folder)
    marker = session.load(layout).spec.session
    if phase != "agent":
        trial.run_agent(layout, environ={}, tell=silent)
    arguments = ("agent", folder) if phase == "agent" else ("probe", folder, phase)
    step = reb(*arguments)
    until(lambda: processes_of(marker))
    sent = time.monotonic()
    step.send_signal(number)
    assert step.wait(timeout=PATIENCE_SECONDS) == 130
    assert reb("stop", folder).wait(timeout=30) == 0
    taken = time.monotonic() - sent
    assert processes_of(marker) == []
    assert not (folder / "work").exists()
    assert taken < 3 * PATIENCE_SECONDS, f"{taken:.1f} s"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_signal_while_a_trial_starts_leaves_nothing_after_the_next_start(place, tmp_path, number):
    folder = tmp_path / "trial"
    given = {"REB_MIRROR": str(place / "mirror"), "REB_RESULTS": str(folder)}
    given |= {"REB_SANDBOX": "local", "REB_AGENT": "nop"}
    step = reb("start", place / "tiny.yaml", **given)
    until((folder / "session.json").exists)
    marker = session.load(SessionLayout(folder=folder)).spec.session
    step.send_signal(number)
    assert step.wait(timeout=PATIENCE_SECONDS) in {130, -signal.SIGKILL}
    other = options(place, tmp_path / "other", "honest")
    trial.start(other, owner=os.getpid(), tell=silent)
    trial.stop(SessionLayout(folder=other.folder), tell=silent)
    assert processes_of(marker) == []


def test_what_a_cancelled_job_leaves_is_gone_after_the_next_start(cancelled, place, tmp_path):
    run = cancelled.of("cancelled")
    assert run.step("reb", "agent") != "success"
    assert run.step("reb", "C0") is None
    other = options(place, tmp_path / "other", "honest")
    trial.start(other, owner=os.getpid(), tell=silent)
    trial.stop(SessionLayout(folder=other.folder), tell=silent)
    assert processes_of(run.outputs("reb", "set-up")["folder"]) == []
