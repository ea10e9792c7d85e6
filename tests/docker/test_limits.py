"""Each limit of a container really hit: the kernel's counts, and what the verdict says."""

import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from reb_action.corpus import manifests
from reb_action.demo import commit_repository
from reb_action.errors import SandboxError
from reb_action.model.agent import Ending
from reb_action.model.fault import FaultCause
from reb_action.model.limits import LimitHits, Limits
from reb_action.model.manifest import Level, LogProof, Outcome
from reb_action.sandbox.protocol import Kind
from reb_action.session import verdict as session_verdict
from reb_action.session.layout import SessionLayout
from reb_action.session.state import AgentChoice
from reb_action.trial import agent as trial_agent
from reb_action.trial import options as trial_options
from reb_action.trial import probe as trial_probe
from reb_action.trial import start as trial_start
from reb_action.trial import stop
from reb_action.trial.fault import demand_result
from tests.support.model_server.scenarios import WRITE_REPORT
from tests.support.sandbox_fixtures import Start, docker_image, shell
from tests.trial.test_trial import DEMO, silent

pytestmark = pytest.mark.docker
LIMITS = Limits(memory_mib=256, shm_mib=16, processes=80, seconds=600, disk_mib=128)
HOG = "bytearray(600 << 20)"
# Small processes: 80 that each change memory of their own could reach the limit of memory first.
FORKS = "import os\nfor _ in range(200):\n    os.fork() or os.execv('/bin/sleep', ['sleep', '5'])"


@pytest.mark.parametrize(
    ("script", "memory_kills", "processes_refused"), [(HOG, 1, 0), (FORKS, 0, 1), ("1", 0, 0)]
)
def test_kernel_counts_what_a_limit_ends(
    start: Start,
    script: str,
    memory_kills: int,
    processes_refused: int,
):
    sandbox = start(Kind.DOCKER, limits=LIMITS)
    before = sandbox.find_hits()
    shell(sandbox, f"python3 -c {shlex.quote(script)}")
    hits = sandbox.find_hits().since(before)
    assert before == LimitHits()
    assert (hits.memory_kills, hits.memory_refused > 0) == (memory_kills, memory_kills > 0)
    assert bool(hits.processes_refused) is bool(processes_refused)
    assert (hits.shm_full, hits.disk_full) == (False, False)


def test_counts_survive_a_restart_of_the_container(start: Start):
    sandbox = start(Kind.DOCKER, limits=LIMITS)
    shell(sandbox, f"python3 -c {shlex.quote(HOG)}")
    shell(sandbox, "sleep 60", timeout_seconds=1)
    assert sandbox.find_hits().memory_kills == 1


BUILD = "python3 -m venv --without-pip ../venv && python3 -c " + shlex.quote(WRITE_REPORT)
FILL_DISK = "dd if=/dev/zero of=../big bs=1M count=300 status=none; sleep 60"
FILL_SHM = "open('/dev/shm/big', 'wb').write(bytes(64 << 20))"
WRITE_BIG = "open('/workspace/big', 'wb').write(bytes(300 << 20)); import time; time.sleep(60)"
DIES_OF_FORKS = f"{FORKS}\nraise SystemExit(1)"


def options_for(tmp_path: Path, script: str, **other: object) -> trial_options.Options:
    commit_repository(DEMO, tmp_path / "mirror")
    argument = shlex.join(["sh", "-c", script])
    given = {"manifest": manifests.load(DEMO / "manifest.yaml"), "limits": LIMITS, **other}
    return trial_options.Options(
        agent=AgentChoice(name="command", argument=argument, total_seconds=120, setup_seconds=60),
        folder=tmp_path / "results",
        kind=Kind.DOCKER,
        image=docker_image(),
        mirror=tmp_path / "mirror",
        levels=(Level.C1, Level.C5),
        **given,
    )


@pytest.mark.parametrize(
    ("script", "cause", "words"),
    [
        (
            f"exec python3 -c {shlex.quote(HOG)}",
            FaultCause.OUT_OF_MEMORY,
            (
                "killed for memory (limit: 256 MiB of memory) (it ended with exit code 137"
                " and left no"
                " report); raise --memory-mib"
            ),
        ),
        (
            f"exec python3 -c {shlex.quote(DIES_OF_FORKS)}",
            FaultCause.OUT_OF_PROCESSES,
            (
                "no more processes or threads could be started (limit: 80 processes) (it ended"
                " with exit code 1 and left no report); raise --processes"
            ),
        ),
        (
            FILL_DISK,
            FaultCause.DISK_FULL,
            (
                "the disk was full (limit: 128 MiB of disk) (it was stopped after {seconds:.0f} s);"
                " free disk space on the runner, or raise --disk-mib"
            ),
        ),
    ],
)
def test_agent_that_a_limit_ends_is_invalid_and_the_limit_is_named(
    tmp_path: Path, script: str, cause: FaultCause, words: str
):
    chosen = options_for(tmp_path, script)
    layout = SessionLayout(folder=chosen.folder)
    trial_start.start(chosen, owner=1, tell=silent)
    try:
        run = trial_agent.run_agent(layout, environ={}, tell=silent)
        verdict = session_verdict.conclude(layout)
    finally:
        stop.stop(layout, tell=silent)
    assert (run.ending, run.cause, run.limits) == (Ending.CRASHED, cause, LIMITS)
    result = verdict.result(Level.C1)
    assert result.outcome is Outcome.INVALID
    assert result.reason == (f"not the agent's fault (runner): {words.format(seconds=run.seconds)}")
    with pytest.raises(SandboxError, match=re.escape(words.partition(" (")[0])):
        demand_result(run, LIMITS)


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (HOG, "exit code -9: killed for memory (limit: 256 MiB of memory); raise --memory-mib"),
        (
            FILL_SHM,
            (
                "exit code 1: the shared memory was full (limit: 16 MiB of shared memory); raise"
                " --shm-mib"
            ),
        ),
        (
            DIES_OF_FORKS,
            (
                "exit code 1: no more processes or threads could be started (limit: 80 processes);"
                " raise --processes"
            ),
        ),
        (
            WRITE_BIG,
            (
                "the run was ended: the disk was full: the disk was full (limit: 128 MiB of disk);"
                " free disk space on the runner, or raise --disk-mib"
            ),
        ),
    ],
)
def test_entry_point_that_a_limit_ends_is_invalid_and_the_limit_is_named(
    tmp_path: Path, script: str, words: str
):
    full = manifests.load(DEMO / "manifest.yaml")
    entrypoint = replace(
        full.entrypoints[Level.C1],
        argv=("{python}", "-c", f"import spirals\n{script}"),
        decoy="spirals/__init__.py",
        proofs=(LogProof(log="^imported"),),
        timeout_seconds=120,
    )
    wanted = replace(full, entrypoints={Level.C1: entrypoint})
    chosen = options_for(tmp_path, BUILD, manifest=wanted)
    layout = SessionLayout(folder=chosen.folder)
    trial_start.start(chosen, owner=1, tell=silent)
    try:
        trial_agent.run_agent(layout, environ={}, tell=silent)
        trial_probe.probe_level(layout, Level.C1, tell=silent)
        result = session_verdict.conclude(layout).result(Level.C1)
    finally:
        stop.stop(layout, tell=silent)
    assert (result.outcome, result.reason.endswith(words)) == (Outcome.INVALID, True), result.reason
