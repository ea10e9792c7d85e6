"""fail-on against a base, and the sequential mode: runs that fail, pass, stop early, and do not."""

from dataclasses import replace

import pytest

from reb_action import documents
from reb_action.model.manifest import Level, Outcome
from tests.act.act_consumer import git, make_consumer, make_mirror
from tests.act.act_runner import act, pinned
from tests.support import scoreboards
from tests.support.github_api.fixtures import serve
from tests.support.github_api.world import Identity

pytestmark = pytest.mark.timeout(580)

TOKEN = "ghs_of_the_job"
REPOSITORIES = 6
CASES = {
    # agent, fail-on, repositories, attempts: what the run is told
    "regression": ("broken", "regression", REPOSITORIES, 2),
    "none": ("honest", "regression", REPOSITORIES, 1),
    "whole": ("honest", "broken", 2, 1),
}


def base_of():
    """Return a board on which the agent passed C1 of every repository."""
    board = scoreboards.board()
    row = next(row for row in board.trials if row.agent == "uv")
    passed = replace(row.cells[Level.C1], outcome=Outcome.PASSED, paper=Outcome.PASSED)
    rows = tuple(
        replace(
            row,
            trial=f"example__r{n}.replay.1",
            repository=f"example/r{n}",
            agent="replay",
            contestant=None,
            cells={Level.C1: passed},
        )
        for n in range(REPOSITORIES)
    )
    return replace(board, trials=rows, missing={}, invalid={})


def make_repository(product, place):
    manifests = {f"r{n}.yaml": make_mirror(place, f"r{n}") for n in range(REPOSITORIES)}
    workflows = {"benchmark.yml": pinned(product)}
    consumer = make_consumer(place / "c", manifests["r0.yaml"], workflows, manifests)
    documents.write(consumer / "base.json", base_of(), kind="scoreboard")
    git(consumer, "add", ".")
    git(consumer, "commit", "-qm", "Add a base")
    return consumer


def run_case(product, place, name):
    agent, fail_on, repositories, attempts = CASES[name]
    inputs = {
        "repositories": ",".join(f"r{n}.yaml" for n in range(repositories)),
        "agents": f"replay agents/{agent}",
        "attempts": attempts,
        "fail-on": fail_on,
        "sequential": "true",
        "base": "base.json",
        "levels": "C1",
        "max-jobs": 1,
        "setup-seconds": 30,
        "sandbox": "local",
        "agent-seconds": 60,
        "mirror": place / "mirror",
    }
    consumer = make_repository(product, place)
    with serve("github") as api:
        api.world.repository, api.tokens = "acme/bench", {TOKEN: Identity()}
        env = {
            "GITHUB_API_URL": api.url,
            "GITHUB_SERVER_URL": api.git.url,
            "ARTIFACTS": str(place / "artifacts"),
        }
        told = [f"--input={key}={value}" for key, value in inputs.items()]
        where = ("-W", ".github/workflows/benchmark.yml", "-s", f"GITHUB_TOKEN={TOKEN}")
        return act(product, consumer, place, "workflow_call", *where, *told, env=env)


@pytest.fixture(scope="session")
def cases(once, product):
    """Each case once, whichever test asks first."""
    return lambda name: once(f"seq-{name}", lambda place: run_case(product, place, name))


def ran(run):
    batch = run.of("trial").outputs("batch")
    return len(batch["done"].split()), len(batch["skipped"].split())


def early(run):
    """Return the lines of the report's summary that say that the run ended early."""
    blocks = (block for one in run.of("report").summaries for block in one.split("\n\n"))
    return [block for block in blocks if block.startswith("**Stopped early**: ")]


def test_a_regression_fails_the_run_and_ends_it_early(cases):
    run = cases("regression")
    assert ran(run) == (6, 6)
    report = run.of("report")
    assert run.of("trial").step("batch", "batch") == "failure"
    assert report.step("report") == "failure"
    worse = "replay: worse than the base: C1 100% to 0% (p = 0.031)"
    assert any(worse in one for one in run.errors)
    told = report.outputs("report")
    assert (told["complete"], told["run-again"], len(told["skipped"].split())) == ("true", "", 6)
    assert "worse than the base at C1`. 6 of 12 trials did not run" in early(run)[0]


def test_a_run_without_a_regression_passes_and_ends_early_too(cases):
    run = cases("none")
    assert run.code == 0
    assert ran(run) == (1, 5)
    assert "5 of 6 trials did not run" in early(run)[0]


def test_a_run_in_which_every_trial_matters_runs_them_all(cases):
    run = cases("whole")
    assert run.code == 0
    assert (ran(run), early(run)) == ((2, 0), [])
