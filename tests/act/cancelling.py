"""Trials that have come to a step which takes its time, for tests that signal that step."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from reb_action.corpus import manifests
from reb_action.model.manifest import Level, Outcome
from reb_action.sandbox.docker.connection import connect
from reb_action.sandbox.protocol import Kind
from reb_action.session import state
from reb_action.session import verdict as session_verdict
from reb_action.session.layout import SessionLayout
from reb_action.session.state import AgentChoice
from reb_action.trial import agent as trial_agent
from reb_action.trial import options as trial_options
from reb_action.trial import run as trial_run
from reb_action.trial import start
from tests.act.act_consumer import HERE, make_mirror
from tests.support.sandbox_fixtures import KINDS, LIMITS, docker_image

MAIN = HERE.parent.parent / "reb_action" / "__main__.py"
PATIENCE_SECONDS = 5
"""From a signal until the machine is clean, on a quiet machine; three times that on a busy one."""

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
GPUS = 2

COMMANDS = {
    "agent": ("agent",), "C0": ("probe", "C0"), "C1": ("probe", "C1"), "C2": ("probe", "C2"),
    "C3": ("probe", "C3"), "C4": ("probe", "C4"), "C5": ("audit",), "verdict": ("verdict",),
    "stop": ("stop",), "gate": ("gate",),
}  # fmt: skip
"""The command of each step of action.yml after its start."""

RUN = "import time; time.sleep(50)"
WORK = {
    "agent": "sleep\x00300",
    "C0": "toolchain",
    "C1": RUN,
    "C2": "cuda.py",
    "C3": RUN,
    "C4": RUN,
}
"""What stands in the command line of a process inside while a step is in the middle of its work."""

FRAMEWORK = """\
mkdir "$site/torch"
printf 'class cuda:\\n    def device_count():\\n        __import__("time").sleep(50)\\n' \
>"$site/torch/__init__.py"
"""
"""What makes C2 hang, here where no GPU would."""


def silent(_line):
    pass


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with the tiny repository, whose entry points take their time, and its manifest."""
    place = tmp_path_factory.mktemp("cancel")
    wanted = yaml.safe_load(make_mirror(place))
    run = {**wanted["entrypoints"]["C1"], "argv": ["{python}", "-c", RUN]}
    wanted["entrypoints"] = {"C1": run, "C3": run, "C4": {**run, "ranks": GPUS}}
    # torch is the default.
    del wanted["frameworks"], wanted["not_applicable"]
    (place / "tiny.yaml").write_text(json.dumps(wanted))
    for name in ("honest", "slow"):
        shutil.copytree(HERE / "agents" / name, place / name)
    with (place / "honest" / "run.sh").open("a") as script:
        script.write(FRAMEWORK)
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


@pytest.fixture(params=KINDS)
def kind(request):
    """Each kind of sandbox; Docker's where there is an engine and the test image."""
    if request.param is Kind.DOCKER:
        docker_image()
    return request.param


def options(place, folder, agent, *, kind, levels=tuple(Level)):
    choice = AgentChoice(
        name="replay", argument=str(place / agent), total_seconds=60, setup_seconds=60
    )
    return trial_options.Options(
        manifest=manifests.load(place / "tiny.yaml"),
        agent=choice,
        folder=folder,
        kind=kind,
        image=docker_image() if kind is Kind.DOCKER else None,
        mirror=place / "mirror",
        levels=levels,
        limits=LIMITS,
        # By default a killed trial is kept for a day, so that it can be resumed.
        resume_hours=0,
    )


def reb(*arguments, stdout=subprocess.DEVNULL, **env):
    engine = {name: os.environ[name] for name in ("DOCKER_HOST",) if name in os.environ}
    return subprocess.Popen(
        [sys.executable, "-I", MAIN, *arguments],
        stdout=stdout,
        stderr=subprocess.DEVNULL,
        env={"PATH": "/usr/bin:/bin", **engine, **env},
    )


def given_to(place, layout, kind):
    """Return what a start in this folder is given by its environment."""
    image = {"REB_IMAGE": docker_image()} if kind is Kind.DOCKER else {}
    where = {"REB_MIRROR": str(place / "mirror"), "REB_RESULTS": str(layout.folder)}
    return {**where, **image, "REB_SANDBOX": kind}


def processes_of(*marks):
    """Return the processes of a sandbox that are alive, and what stands in their command lines."""
    found = {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "cmdline").read_bytes()
            said = words + (place / "environ").read_bytes() + (place / "cgroup").read_bytes()
        except OSError:
            continue
        if any(str(mark).encode() in said for mark in marks):
            found[int(place.name)] = words.decode("utf-8", "replace")
    return found


def containers_of(begun):
    """Return the containers of a session, running or not."""
    if begun.spec.kind is Kind.LOCAL:
        return []
    named = begun.spec.session
    return [one.id for one in connect().ours() if one.labels["reb.session"] == named]


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


def begun(place, folder, step, worker, *, kind):
    """Make a trial that has come to a step, on a runner that promises GPUs."""
    agent = "slow" if step == "agent" else "honest"
    start.start(options(place, folder, agent, kind=kind), owner=worker.pid, tell=silent)
    layout = SessionLayout(folder=folder)
    now = state.load(layout)
    # Promised only afterwards: an engine without GPUs would not start a container with them.
    state.save(layout, replace(now, spec=replace(now.spec, gpus=GPUS)))
    if step not in {"agent", "stop"}:
        trial_agent.run_agent(layout, environ={}, tell=silent)
    if step == "gate":
        session_verdict.conclude(layout)
    return layout


def caught(layout, step, full):
    """Start a step and return it when it is in the middle of its work."""
    command, *more = COMMANDS[step]
    waits = step in {"C5", "verdict", "gate"}
    junk = layout.work / "source" / "junk"
    if step == "stop":
        junk.mkdir()
        for number in range(4000):
            (junk / str(number)).touch()
    running = reb(command, layout.folder, *more, stdout=full[1] if waits else subprocess.DEVNULL)
    if waits:
        until(lambda: is_stuck(running.pid))
    elif step == "stop":
        until(lambda: len(os.listdir(junk)) < 4000)  # noqa: PTH208
    else:
        handle = state.load(layout).handle
        until(lambda: any(WORK[step] in words for words in processes_of(handle).values()))
    return running


def patience():
    """Return how long a clean-up may take here and now."""
    busy = os.getloadavg()[0] > (os.cpu_count() or 1)
    return PATIENCE_SECONDS * (3 if busy else 1)


def seen(name, **seconds):
    """Leave a line for the table of what was really seen."""
    told = " ".join(f"{what} {value:.2f} s" for what, value in seconds.items())
    sys.stdout.write(f"SEEN {name}: {told}\n")


def assert_nothing_is_left(layout, before):
    """Look for processes, containers and scratch of a trial, whose session was this before."""
    marks = (before.spec.session, before.handle or layout.folder, layout.folder)
    assert processes_of(*marks) == {}
    assert containers_of(before) == []
    assert not layout.work.exists()


def assert_next_trial_works(place, folder, kind):
    """Run a whole trial beside one that was killed, and let it pass what it does."""
    other = options(place, folder, "honest", kind=kind, levels=(Level.C5,))
    verdict = trial_run.run(other, environ={}, tell=silent)
    assert verdict.result(Level.C5).outcome is Outcome.PASSED
