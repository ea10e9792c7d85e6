"""The sequential mode: which trial runs next, what is left out, and what a batch says of it."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from reb_action import documents
from reb_action.errors import UsageError
from reb_action.judge.gate import parse_fail_on
from reb_action.model.manifest import Level, Outcome
from reb_action.model.plan import EarlyStop
from reb_action.render.early_stop import stop_line
from reb_action.results.early_stop import NAME, join_stops, read_stops
from reb_action.score.outlook import Answer
from reb_action.workflow.sequential import Outlook, make_rule
from tests.act.act_consumer import HERE, make_mirror
from tests.support import scoreboards

MAIN = Path(__file__).parents[2] / "reb_action" / "__main__.py"
P, F, X = Outcome.PASSED, Outcome.FAILED, Outcome.INVALID
FOUND = {name: one for name, one in scoreboards.found().items() if not isinstance(one, str)}
SOME = next(one for one in FOUND.values() if one.agent == "codex")


def judged(trial, outcome):
    results = tuple(
        replace(one, outcome=outcome, paper=outcome, reason="x") for one in SOME.results
    )
    return replace(SOME, trial=trial, results=results)


def trial(number, attempt, contestant="codex-gpt-5-1-codex"):
    return f"acme__r{number}.{contestant}.{attempt}"


def make_outlook(word, base, *, attempts=2, levels=(Level.C1,), tested=None):
    """Return the outlook of a run; `base` are the outcomes of C1 of acme/r0, acme/r1 and so on."""
    board = scoreboards.board()
    row = next(row for row in board.trials if row.agent == "codex")
    cell = row.cells[Level.C1]
    rows = tuple(
        replace(
            row,
            trial=trial(number, 1),
            repository=f"acme/r{number}",
            cells={Level.C1: replace(cell, outcome=outcome)},
        )
        for number, outcome in enumerate(base)
    )
    every = [trial(n, a) for n in range(len(base)) for a in range(1, attempts + 1)]
    rule = make_rule(parse_fail_on(word), levels)
    tested = tested or ["codex-gpt-5-1-codex"]
    return every, Outlook(replace(board, trials=rows, missing={}), every, tested, rule)


def play(word, base, outcomes, **options):
    """Run a sequential run of scripted outcomes; return the trials that ran, and its answer."""
    every, outlook = make_outlook(word, base, **options)
    ran = []
    while (name := outlook.choose([one for one in every if one not in ran])) is not None:
        outlook.record(name, judged(name, outcomes(name)))
        ran.append(name)
    return [name.partition(".")[0][-1] + name[-1] for name in ran], outlook


def test_one_pass_of_each_repository_is_enough_for_no_broken_cell():
    ran, outlook = play("broken", [P, P, F], lambda _: P, attempts=3)
    assert (ran, outlook.answer()) == (["01", "11"], Answer.PASSES)
    assert outlook.explain() == "fail-on: broken passes"


def test_a_suspect_repository_goes_on_first_and_ends_the_run():
    ran, outlook = play("broken", [P] * 4, lambda name: F if "__r1." in name else P, attempts=3)
    assert ran == ["01", "11", "12", "13"]
    assert outlook.explain() == (
        "fail-on: broken fails: codex-gpt-5-1-codex broke C1 of acme/r1 (1 of 1 → 0 of 3)"
    )


def test_an_attempt_that_does_not_count_decides_nothing():
    ran, outlook = play("broken", [P], lambda name: X if name[-1] == "1" else P, attempts=3)
    assert (ran, outlook.answer()) == (["01", "02"], Answer.PASSES)


def test_a_regression_that_is_certain_ends_the_run():
    ran, outlook = play("regression", [P] * 9, lambda _: F, attempts=2)
    # Six repositories at a half or less, whatever their second attempts give: p = 2 / 2^6.
    assert ran == [f"{number}1" for number in range(6)]
    assert outlook.explain() == (
        "fail-on: regression fails: codex-gpt-5-1-codex is worse than the base at C1"
    )


def test_what_no_result_can_fail_is_refused():
    _, outlook = make_outlook("regression", [P] * 5)
    with pytest.raises(UsageError, match="no result of these trials could fail --fail-on regr"):
        outlook.demand_open()
    _, outlook = make_outlook("broken", [P], tested=["other"])
    with pytest.raises(UsageError, match="the base has no results of other"):
        outlook.demand_open()
    with pytest.raises(UsageError, match="set --fail-on to regression or broken"):
        make_rule(parse_fail_on("any"), (Level.C1,))


def test_several_stops_are_told_as_one(tmp_path):
    stops = [
        EarlyStop(answer="fail-on: broken passes", skipped=("a", "b"), ran=1, seconds=60.0),
        EarlyStop(answer="fail-on: broken fails: x", skipped=("c",), ran=2, cost_usd=1.5),
    ]
    for number, stop in enumerate(stops):
        folder = tmp_path / f"reb.k.{number}.a1"
        folder.mkdir()
        documents.write(folder / NAME, stop, kind="early_stop")
    # What an agent left in its own folder is none of ours.
    (tmp_path / "trial").mkdir()
    (tmp_path / "trial" / "session.json").touch()
    (tmp_path / "trial" / NAME).write_text("{}")
    joined = join_stops(tuple(read_stops([tmp_path])))
    assert stop_line(joined) == (
        "Stopped early: fail-on: broken fails: x. 3 of 6 trials did not run, which saved about"
        " 1 min 0 s of agents and $1.50."
    )


def run_batch(place, agent, results, *more):
    argv = [
        *(sys.executable, "-I", str(MAIN), "batch", "--repositories", "one.yaml,two.yaml"),
        *("--agents", f"replay {HERE / 'agents' / agent}", "--sandbox", "local"),
        *("--mirror", "mirror", "--levels", "C1", "--results", results, *more),
    ]
    return subprocess.run(
        argv, cwd=place, capture_output=True, text=True, check=False, env=dict(os.environ)
    )


@pytest.mark.slow
def test_a_batch_stops_early_and_says_what_it_saved(tmp_path):
    for name in ("one", "two"):
        (tmp_path / f"{name}.yaml").write_text(make_mirror(tmp_path, name))
    assert run_batch(tmp_path, "honest", "base").returncode == 0
    against = ("--base", "base", "--fail-on", "broken", "--sequential")
    clean = run_batch(tmp_path, "honest", "clean", *against, "--attempts", "3")
    assert (clean.returncode, clean.stderr.count("begins")) == (0, 2), clean.stderr
    assert "Stopped early: fail-on: broken passes. 4 of 6 trials did not run" in clean.stdout
    broken = run_batch(tmp_path, "broken", "broken", *against)
    assert (broken.returncode, broken.stderr.count("begins")) == (7, 1), broken.stderr
    assert "1 of 2 trials did not run, which saved about" in broken.stdout
    assert "replay broke C1 of example/one (1 of 1 → 0 of 1)" in broken.stderr
    stop = documents.read(tmp_path / "clean" / NAME, EarlyStop, kind="early_stop")
    assert (stop.ran, len(stop.skipped)) == (2, 4)
