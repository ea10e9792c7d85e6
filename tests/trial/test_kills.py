"""A kill of the runner in each phase, really played: docs/faults.md has what comes of it."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from reb_action.corpus import manifests
from reb_action.demo import commit_repository
from reb_action.model.manifest import Level, LogProof
from reb_action.sandbox.protocol import Kind
from reb_action.session import state
from reb_action.session import verdict as session_verdict
from reb_action.session.layout import SessionLayout
from reb_action.session.state import AgentChoice, Phase
from reb_action.trial import options as trial_options
from reb_action.trial import start, stop
from tests.trial.test_trial import DEMO, honest, silent

PAGE = (Path(__file__).parents[2] / "docs" / "faults.md").read_text(encoding="utf-8")
REB = (sys.executable, "-m", "reb_action.cli.main")
WAIT_ONCE = "os.path.exists('../seen') or (open('../seen', 'w').close(), time.sleep(300))"
ENTRY = f"import os, time, spirals; {WAIT_ONCE}; print('imported', spirals.__doc__)"


class Trial:
    """A trial in the local sandbox; each step is a process of its own."""

    def __init__(self, folder: Path, player: Path) -> None:
        self.layout = SessionLayout(folder=folder / "trial")
        self.player = player
        self.mirror = folder / "mirror"
        honest(player)
        commit_repository(DEMO, self.mirror)

    def start(self, *, waits: bool = False) -> None:
        """Start it; with `waits` its entry point does not end when it runs first."""
        full = manifests.load(DEMO / "manifest.yaml")
        entrypoint = replace(
            full.entrypoints[Level.C1],
            argv=("{python}", "-c", ENTRY if waits else ENTRY.replace(WAIT_ONCE, "0")),
            decoy="spirals/__init__.py",
            proofs=(LogProof(log="^imported Spirals"),),
        )
        options = trial_options.Options(
            manifest=replace(full, entrypoints={Level.C1: entrypoint}),
            agent=AgentChoice(
                name="replay", argument=str(self.player), total_seconds=400, setup_seconds=60
            ),
            folder=self.layout.folder,
            kind=Kind.LOCAL,
            mirror=self.mirror,
            levels=(Level.C1, Level.C5),
        )
        start.start(options, owner=os.getpid(), tell=silent)

    @property
    def phase(self) -> Phase:
        return state.load(self.layout).phase

    def reb(self, command: str, *more: str) -> int:
        """Run a command of reb to its end; return its exit code."""
        argv = [*REB, command, str(self.layout.folder), *more]
        environ = {**os.environ, "REB_FAIL_ON": "invalid"}
        return subprocess.run(argv, check=False, capture_output=True, env=environ).returncode

    def kill(self, moment: Callable[[], bool], *arguments: str) -> None:
        """Run a command of reb, and kill it at a moment."""
        quiet = subprocess.DEVNULL
        step = subprocess.Popen([*REB, *arguments], stdout=quiet, stderr=quiet)
        deadline = time.monotonic() + 120
        while not moment():
            assert time.monotonic() < deadline, "it did not come to that"
            assert step.poll() is None, "it has ended"
            time.sleep(0.002)
        step.send_signal(signal.SIGKILL)
        step.wait()

    def judge(self) -> str:
        """Return the result of C1 and the exit code of the gate."""
        self.reb("verdict")
        return f"{self.result()}; gate {self.reb('gate')}"

    def result(self) -> str:
        judged = session_verdict.judged(self.layout)
        return "no verdict" if isinstance(judged, str) else f"C1 {judged.result(Level.C1).outcome}"


def in_start(trial: Trial) -> tuple[str, str, str]:
    folder = str(trial.layout.folder)
    options = ("--sandbox", "local", "--agent", "nop", "--levels", "C1,C5", "--results", folder)
    mirror = ("--mirror", str(trial.mirror))
    sandbox = trial.layout.work / "sandbox"
    trial.kill(sandbox.is_dir, "start", str(DEMO / "manifest.yaml"), *options, *mirror)
    after = trial.judge()
    return after, "start in a new folder", f"exit code of reb agent: {trial.reb('agent')}"


def in_prepare(trial: Trial) -> tuple[str, str, str]:
    trial.start()
    trial.kill(lambda: _is_busy(trial), "agent", str(trial.layout.folder))
    assert not trial.layout.progress.exists()
    after = trial.judge()
    return after, "agent", _go_on(trial, "agent", "probe")


def in_agent(trial: Trial) -> tuple[str, str, str]:
    (trial.player / "run.sh").write_text("sleep 300\n")
    trial.start()
    trial.kill(trial.layout.progress.exists, "agent", str(trial.layout.folder))
    after = trial.judge()
    return after, "agent", _go_on(trial, "agent", "probe")


def in_freeze(trial: Trial) -> tuple[str, str, str]:
    trial.start()
    trial.kill(lambda: trial.phase is Phase.AGENT_DONE, "agent", str(trial.layout.folder))
    after = trial.judge()
    return after, "agent", _go_on(trial, "agent", "probe")


def in_probe(trial: Trial) -> tuple[str, str, str]:
    trial.start(waits=True)
    assert trial.reb("agent") == 0
    seen = trial.layout.work / "sandbox" / "workspace" / "seen"
    trial.kill(seen.exists, "probe", str(trial.layout.folder), "C1")
    after = trial.judge()
    return after, "probe", _go_on(trial, "probe")


def in_judge(trial: Trial) -> tuple[str, str, str]:
    trial.start()
    assert (trial.reb("agent"), trial.reb("probe", "C1")) == (0, 0)
    trial.kill(lambda: True, "verdict", str(trial.layout.folder))
    after = f"{trial.result()}; gate {trial.reb('gate')}"
    return after, "verdict", _go_on(trial)


def in_seal(trial: Trial) -> tuple[str, str, str]:
    trial.start()
    assert (trial.reb("agent"), trial.reb("probe", "C1"), trial.reb("verdict")) == (0, 0, 0)
    trial.kill(lambda: True, "stop", str(trial.layout.folder))
    after = f"{trial.result()}; gate {trial.reb('gate')}"
    assert trial.phase is not Phase.STOPPED
    assert trial.reb("stop") == 0
    assert trial.phase is Phase.STOPPED
    return after, "stop", f"{trial.result()}; gate {trial.reb('gate')}"


def _is_busy(trial: Trial) -> bool:
    busy = state.load(trial.layout).busy
    return trial.phase is Phase.STARTED and busy is not None and busy.pid != os.getpid()


def _go_on(trial: Trial, *commands: str) -> str:
    for command in commands:
        trial.reb(command, *(("C1",) if command == "probe" else ()))
    return trial.judge()


KILLS = {
    "start": in_start,
    "prepare": in_prepare,
    "agent": in_agent,
    "freeze": in_freeze,
    "probe": in_probe,
    "judge": in_judge,
    "seal": in_seal,
}


def rows() -> dict[str, tuple[str, ...]]:
    text = re.search(r"<!-- kills -->\n(.*?)<!-- /kills -->", PAGE, re.DOTALL)
    cells = [line.strip("| \n").split(" | ") for line in text[1].splitlines()[2:]]
    return {row[0]: tuple(row[1:]) for row in cells}


@pytest.mark.parametrize("phase", KILLS)
def test_kill_comes_to_what_the_page_says(phase: str, tmp_path: Path):
    player = tmp_path / "player"
    player.mkdir()
    trial = Trial(tmp_path, player)
    try:
        assert KILLS[phase](trial) == rows()[phase]
    finally:
        if trial.layout.session.exists():
            stop.stop(trial.layout, tell=silent)


def test_page_has_every_phase() -> None:
    assert list(rows()) == list(KILLS)
