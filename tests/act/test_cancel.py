"""What a cancelled job leaves: signals to each step, as the runner sends them."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from act_consumer import HERE, make_mirror

from reb_action import judging, manifest, session, trial
from reb_action.layout import SessionLayout
from reb_action.model.manifest import Level, Outcome
from reb_action.sandbox.protocol import Kind
from reb_action.session import AgentChoice

MAIN = HERE.parent.parent / "reb_action" / "__main__.py"
PATIENCE_SECONDS = 5
"""From a signal until the machine is clean, on a quiet machine; three times that on a busy one."""

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
AGENTS = {"agent": "slow"}
"""The agents of the steps that are cut off before an honest one has made an environment."""

COMMANDS = {
    "agent": ("agent",), "C0": ("probe", "C0"), "C1": ("probe", "C1"), "C5": ("audit",),
    "verdict": ("verdict",), "stop": ("stop",), "gate": ("gate",),
}  # fmt: skip
"""The command of each step of action.yml after its start."""


def silent(_line):
    pass


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with the tiny repository, whose entry point takes its time, and its manifest."""
    place = tmp_path_factory.mktemp("cancel")
    slow = '-c, "import main; import time; time.sleep(50)"]'
    (place / "tiny.yaml").write_text(make_mirror(place).replace('main.py, "{out}"]', slow))
    return place


@pytest.fixture
def worker():
    """What calls the steps, as the worker of a runner does; a killed runner loses it too."""
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process
        process.kill()


@pytest.fixture
def full():
    """Both ends of a pipe that takes nothing more, so that a step stays at what it prints."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with suppress(BlockingIOError):
        while True:
            os.write(writing, b"." * 4096)
    os.set_blocking(writing, True)
    yield reading, writing
    os.close(writing)
    os.close(reading)


def options(place, folder, agent, levels=tuple(Level)):
    choice = AgentChoice(
        name="replay", argument=str(HERE / "agents" / agent), total_seconds=60, setup_seconds=60
    )
    return trial.Options(
        manifest=manifest.load(place / "tiny.yaml"),
        agent=choice,
        folder=folder,
        kind=Kind.LOCAL,
        mirror=place / "mirror",
        levels=levels,
    )


def reb(*arguments, stdout=subprocess.DEVNULL, **env):
    return subprocess.Popen(
        [sys.executable, "-I", MAIN, *arguments],
        stdout=stdout,
        stderr=subprocess.DEVNULL,
        env={"PATH": "/usr/bin:/bin", **env},
    )


def processes_of(*marks):
    """Return the processes of a sandbox that are alive."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            said = (place / "environ").read_bytes() + (place / "cmdline").read_bytes()
        except OSError:
            continue
        if any(str(mark).encode() in said for mark in marks):
            found.append(int(place.name))
    return found


def until(condition):
    give_up = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < give_up, "it did not come to that"
        time.sleep(0.02)


def is_stuck(pid):
    """Say whether a process waits, and has done nothing for a while."""
    looks = []
    for _ in range(3):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        looks.append((fields[0], *fields[11:13]))
        time.sleep(0.05)
    return looks[0][0] == "S" and len(set(looks)) == 1


def begun(place, folder, step, worker):
    """Make a trial that has come to a step."""
    trial.start(options(place, folder, AGENTS.get(step, "honest")), owner=worker.pid, tell=silent)
    layout = SessionLayout(folder=folder)
    if step not in {"agent", "stop"}:
        trial.run_agent(layout, environ={}, tell=silent)
    if step == "gate":
        judging.conclude(layout)
    return layout


def caught(layout, step, full):
    """Start a step and return it when it is in the middle of its work."""
    command, *more = COMMANDS[step]
    junk = layout.work / "sandbox" / "junk"
    if step == "stop":
        junk.mkdir()
        for number in range(4000):
            (junk / str(number)).touch()
    waits = step in {"C5", "verdict", "gate"}
    running = reb(command, layout.folder, *more, stdout=full[1] if waits else subprocess.DEVNULL)
    session_id = session.load(layout).spec.session
    if waits:
        until(lambda: is_stuck(running.pid))
    elif step == "stop":
        until(lambda: len(os.listdir(junk)) < 4000)  # noqa: PTH208
    else:
        until(lambda: processes_of(session_id))
    return running


def patience():
    """Return how long a clean-up may take here and now."""
    busy = os.getloadavg()[0] > (os.cpu_count() or 1)
    return PATIENCE_SECONDS * (3 if busy else 1)


def assert_next_trial_works(place, folder):
    """Run a whole trial beside one that was killed, and let it pass what it does."""
    other = options(place, folder, "honest", levels=(Level.C5,))
    verdict = trial.run(other, environ={}, tell=silent)
    assert verdict.result(Level.C5).outcome is Outcome.PASSED


@pytest.mark.parametrize("number", SIGNALS[:2], ids=lambda one: one.name)
@pytest.mark.parametrize("step", [step for step in COMMANDS if step != "stop"])
def test_interrupt_at_a_step_ends_it_and_stop_cleans_up(
    place, tmp_path, worker, full, step, number
):
    layout = begun(place, tmp_path / "trial", step, worker)
    running = caught(layout, step, full)
    sent = time.monotonic()
    running.send_signal(number)
    # A runner goes on reading what its steps print.
    time.sleep(0.1)
    os.read(full[0], 1024 * 1024)
    assert running.wait(timeout=patience()) == 130
    assert reb("stop", layout.folder).wait(timeout=patience()) == 0
    taken = time.monotonic() - sent
    assert processes_of(session.load(layout).spec.session, layout.folder) == []
    assert not layout.work.exists()
    assert taken < patience(), f"{taken:.1f} s"


def test_interrupt_at_stop_lets_it_finish(place, tmp_path, worker, full):
    layout = begun(place, tmp_path / "trial", "stop", worker)
    running = caught(layout, "stop", full)
    running.send_signal(signal.SIGINT)
    assert running.wait(timeout=patience()) == 0
    assert not layout.work.exists()


@pytest.mark.parametrize(
    ("step", "number"),
    [*((step, signal.SIGKILL) for step in COMMANDS), ("stop", signal.SIGTERM)],
    ids=lambda one: getattr(one, "name", one),
)
def test_kill_at_a_step_leaves_nothing_after_the_next_start(
    place, tmp_path, worker, full, step, number
):
    layout = begun(place, tmp_path / "trial", step, worker)
    running = caught(layout, step, full)
    running.send_signal(number)
    assert running.wait(timeout=patience()) in {130, -signal.SIGKILL}
    worker.kill()
    worker.wait()
    assert layout.work.exists()
    assert_next_trial_works(place, tmp_path / "other")
    assert processes_of(session.load(layout).spec.session, layout.folder) == []
    assert not layout.work.exists()


@pytest.mark.parametrize("number", SIGNALS, ids=lambda one: one.name)
def test_signal_while_a_trial_starts_leaves_nothing_after_the_next_start(place, tmp_path, number):
    folder = tmp_path / "trial"
    given = {"REB_MIRROR": str(place / "mirror"), "REB_RESULTS": str(folder)}
    given |= {"REB_SANDBOX": "local", "REB_AGENT": "nop"}
    running = reb("start", place / "tiny.yaml", **given)
    until((folder / "work" / "mount").exists)
    marker = session.load(SessionLayout(folder=folder)).spec.session
    running.send_signal(number)
    assert running.wait(timeout=patience()) in {130, -signal.SIGKILL}
    # A start that can still do so cleans up by itself.
    assert folder.exists() is (number is signal.SIGKILL)
    # Whoever called it lives on, as a worker does whose step was killed.
    assert_next_trial_works(place, tmp_path / "other")
    assert processes_of(marker, folder) == []
    assert not (folder / "work").exists()


def test_what_a_cancelled_job_leaves_is_gone_after_the_next_start(cancelled, place, tmp_path):
    run = cancelled.of("cancelled")
    assert run.step("reb", "agent") != "success"
    assert run.step("reb", "C0") is None
    other = options(place, tmp_path / "other", "honest")
    trial.start(other, owner=os.getpid(), tell=silent)
    trial.stop(SessionLayout(folder=other.folder), tell=silent)
    assert processes_of(run.outputs("reb", "set-up")["folder"]) == []
