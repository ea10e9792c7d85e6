"""Each limit of a container really hit: the kernel's counts, and what the verdict says."""

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
from reb_action.model.manifest import Level, Outcome
from reb_action.sandbox.protocol import Kind
from reb_action.session import verdict as session_verdict
from reb_action.session.layout import SessionLayout
from reb_action.session.state import AgentChoice
from reb_action.trial import agent as trial_agent
from reb_action.trial import options as trial_options
from reb_action.trial import start as trial_start
from reb_action.trial import stop
from reb_action.trial.fault import demand_result
from tests.support.sandbox_fixtures import Start, docker_image, shell
from tests.trial.test_trial import DEMO, silent

pytestmark = pytest.mark.docker
LIMITS = Limits(memory_mib=256, shm_mib=16, processes=80, seconds=600)
HOG = "bytearray(600 << 20)"
FORKS = "import os, time\nfor _ in range(200):\n    os.fork() or time.sleep(5)"


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


def test_agent_that_is_killed_for_memory_is_named_with_the_limit(tmp_path: Path):
    commit_repository(DEMO, tmp_path / "mirror")
    argument = shlex.join(["python3", "-c", HOG])
    choice = AgentChoice(name="command", argument=argument, total_seconds=60, setup_seconds=60)
    chosen = trial_options.Options(
        manifest=manifests.load(DEMO / "manifest.yaml"),
        agent=choice,
        folder=tmp_path / "results",
        kind=Kind.DOCKER,
        image=docker_image(),
        mirror=tmp_path / "mirror",
        limits=LIMITS,
        levels=(Level.C0, Level.C1, Level.C5),
    )
    layout = SessionLayout(folder=chosen.folder)
    trial_start.start(chosen, owner=1, tell=silent)
    try:
        run = trial_agent.run_agent(layout, environ={}, tell=silent)
        verdict = session_verdict.conclude(layout)
    finally:
        stop.stop(layout, tell=silent)
    assert (run.ending, run.cause, run.exit_code) == (
        Ending.CRASHED,
        FaultCause.OUT_OF_MEMORY,
        137,
    )
    assert run.hits.memory_refused > 0
    assert replace(run.hits, memory_refused=0) == LimitHits(memory_kills=1)
    assert run.limits == LIMITS
    result = verdict.result(Level.C1)
    assert result.outcome is Outcome.INVALID
    assert result.reason == (
        "not the agent's fault (runner): killed for memory (limit: 256 MiB of memory)"
        " (it ended with 137 and left no report); raise --memory-mib"
    )
    with pytest.raises(SandboxError, match="killed for memory"):
        demand_result(replace(run), LIMITS)
