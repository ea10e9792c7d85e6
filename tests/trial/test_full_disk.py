"""A disk that an agent fills: there is a verdict, which names the disk."""

import json
import os
import shlex
import subprocess
from pathlib import Path

import pytest

from reb_action import documents
from reb_action.corpus import manifests
from reb_action.demo import commit_repository
from reb_action.errors import PlaceError, SandboxError
from reb_action.model.agent import AgentRun, Ending
from reb_action.model.fault import FaultCause
from reb_action.model.manifest import Level, Outcome
from reb_action.sandbox.protocol import Kind
from reb_action.session import reserve
from reb_action.session.layout import SessionLayout
from reb_action.session.state import AgentChoice
from reb_action.trial import agent as trial_agent
from reb_action.trial import run as trial_run
from reb_action.trial.fault import demand_result
from reb_action.trial.options import Options

DEMO = Path(__file__).parents[1] / "demo"
MIB = 1 << 20
FILL = "head -c 1G /dev/zero > $HOME/fill"
FILES = "seq -f $HOME/%.0f 9999 | xargs touch; true"
GOES_ON = f"(while :; do {FILL.replace('>', '>>')}; done) & {FILL}; true"


def silent(_line):
    pass


@pytest.fixture
def disk(tmp_path):
    """A disk of 90 MiB and 3,000 files."""
    place = tmp_path / "disk"
    place.mkdir()
    size = f"size={90 * MIB},nr_inodes=3000"
    argv = ("mount", "-t", "tmpfs", "-o", size, "none", str(place))
    if os.getuid() or subprocess.run(argv, capture_output=True, check=False).returncode:
        pytest.skip("only root can mount a small disk")
    yield place
    subprocess.run(("umount", "-l", str(place)), check=True)


def options_of(tmp_path, folder, script):
    commit_repository(DEMO, tmp_path / "mirror")
    report = json.dumps({"python_path": "/usr/bin/python3"})
    script = f"printf %s {shlex.quote(report)} > $REB_REPORT; {script}"
    choice = AgentChoice(
        name="command",
        argument=shlex.join(["sh", "-c", script]),
        total_seconds=60,
        setup_seconds=60,
    )
    return Options(
        manifest=manifests.load(DEMO / "manifest.yaml"),
        agent=choice,
        folder=folder,
        kind=Kind.LOCAL,
        mirror=tmp_path / "mirror",
        levels=(Level.C0, Level.C1, Level.C5),
    )


@pytest.mark.parametrize("script", [FILL, GOES_ON, FILES], ids=["once", "goes on", "files"])
def test_trial_on_a_disk_that_its_agent_filled_has_a_verdict(tmp_path, disk, script):
    verdict = trial_run.run(options_of(tmp_path, disk / "trial", script), environ={}, tell=silent)
    results = [verdict.result(level) for level in (Level.C0, Level.C1)]
    assert [result.outcome for result in results] == [Outcome.INVALID] * 2, results
    assert all("the disk was full" in result.reason for result in results)


def test_trial_without_its_reserve_has_a_verdict(tmp_path, disk, monkeypatch):
    monkeypatch.setattr(reserve, "hold", lambda _: None)
    chosen = options_of(tmp_path, disk / "trial", FILL)
    with pytest.raises(OSError, match="No space left"):
        trial_run.run(chosen, environ={}, tell=silent)
    run = documents.read(SessionLayout(folder=chosen.folder).agent_run, AgentRun, kind="agent_run")
    assert (run.ending, run.cause) == (Ending.CRASHED, FaultCause.DISK_FULL)
    assert (chosen.folder / "verdict.json").is_file()
    with pytest.raises(SandboxError, match=r"the disk was full .*; free disk space"):
        demand_result(run, None)


def test_freeze_on_a_full_disk_is_recorded(tmp_path, disk, monkeypatch):
    def fails(*_args, **_more):
        raise SandboxError("could not start the container: no space left on device")

    monkeypatch.setattr(trial_agent, "freeze", fails)
    verdict = trial_run.run(options_of(tmp_path, disk / "trial", "true"), environ={}, tell=silent)
    assert verdict.result(Level.C1).reason == (
        "not the agent's fault (runner): the disk was full (it had ended: done;"
        " its sandbox could not be frozen); free disk space on the runner, or raise --disk-mib"
    )


def test_trial_does_not_start_on_a_disk_without_room_for_its_results(tmp_path, disk):
    (disk / "other").write_bytes(bytes(40 * MIB))
    with pytest.raises(PlaceError, match=r"the disk of .* has less than 64 MiB or 32 files left"):
        trial_run.run(options_of(tmp_path, disk / "trial", "true"), environ={}, tell=silent)
    assert not (disk / "trial").exists()


def test_reserve_comes_back_as_far_as_there_is_space(disk):
    layout = SessionLayout(folder=disk)
    layout.work.mkdir()
    reserve.hold(layout)
    with reserve.lend(layout):
        assert not layout.reserve.exists()
        with reserve.lend(layout):
            (disk / "result").write_bytes(bytes(50 * MIB))
        assert not layout.reserve.exists()
    assert (layout.reserve / "space").stat().st_size == 32 * MIB


@pytest.mark.parametrize("make", [Path.touch, lambda path: path.symlink_to("/dev")])
def test_what_an_agent_put_in_the_place_of_the_reserve_does_no_harm(tmp_path, make):
    layout = SessionLayout(folder=tmp_path)
    layout.work.mkdir()
    make(layout.reserve)
    with reserve.lend(layout):
        (tmp_path / "result").touch()
    assert not layout.reserve.exists()
