"""fail-on regression and broken: the base of a run, and the evidence in the message."""

from dataclasses import replace

import pytest

from reb_action import documents
from reb_action.errors import UsageError
from reb_action.judge.gate import parse_fail_on
from reb_action.model.manifest import Level, Outcome
from reb_action.publish import publish
from reb_action.publish.base import explain_regression
from reb_action.render.markdown.checks import level_checks
from reb_action.results.early_stop import make_stop, write_stop
from tests.support import runs, scoreboards
from tests.support.editions import edition
from tests.support.runs import AIM, OTHER_SHA, VIM, environ, job, made

KVPRESS = "NVIDIA__kvpress.claude-code.1"
LEVELS = tuple(Level)
P, F = Outcome.PASSED, Outcome.FAILED


def sides(*outcomes):
    """Return the base and the head of one contestant: (before, now) of C1 of each repository."""
    board = scoreboards.board()
    row = next(row for row in board.trials if row.agent == "codex")
    agents = tuple(score for score in board.agents if score.agent == "codex")
    return [
        replace(
            board,
            missing={},
            invalid={},
            agents=agents,
            trials=tuple(
                replace(
                    row,
                    trial=f"acme__r{n}.codex.1",
                    repository=f"acme/r{n}",
                    cells={
                        Level.C1: replace(
                            row.cells[Level.C1], outcome=pair[side], reason=f"reason {n}"
                        )
                    },
                )
                for n, pair in enumerate(outcomes)
            ),
        )
        for side in (0, 1)
    ]


RULES = [
    # before and now of each repository: does regression fail the run, does broken
    ([(P, F)] * 44, True, True),
    ([(P, F)] * 6, True, True),
    ([(P, F)] * 5, False, True),
    ([(P, F)] + [(P, P)] * 43, False, True),
    ([(P, P)] * 10 + [(F, P)] * 10, False, False),
    ([(P, F)] * 6 + [(F, P)] * 6, False, True),
]


@pytest.mark.parametrize(("outcomes", "regression", "broken"), RULES)
def test_what_fails_a_run(outcomes, regression, broken):
    base, head = sides(*outcomes)
    for word, fails in (("regression", regression), ("broken", broken)):
        report = edition(head, base=base, levels=(Level.C1,), fail_on=word)
        assert (explain_regression(report) is not None) is fails
        (check,) = level_checks(report)
        assert (check.conclusion == "failure") is fails
    assert explain_regression(edition(head, base=base, levels=(Level.C1,))) is None


def test_the_message_has_the_evidence():
    base, head = sides(*[(P, F)] * 44)
    report = edition(head, base=base, levels=(Level.C1,), fail_on="regression")
    evidence = {"acme__r0.codex.1": "https://github.example/artifacts/1"}
    text = explain_regression(replace(report, evidence=evidence))
    assert text.startswith(
        "codex-gpt-5-1-codex: worse than the base: C1 100% to 0% (p = 1.1e-13);"
        " acme/r0 C1 FAILED: reason 0;"
    )
    assert "what to do: " in text
    assert "evidence: levels/C1.log https://github.example/artifacts/1; acme/r1 C1" in text
    assert text.endswith(" (and 41 more)")


def test_a_baseline_that_breaks_fails_nothing():
    base, head = sides((P, F), (P, F))
    model = replace(head.agents[0], agent="other", model="m", contestant=None)
    uv = replace(head.agents[0], model=None)
    boards = [
        replace(
            board,
            agents=(model, uv),
            trials=(
                *(replace(row, model=None) for row in board.trials),
                replace(head.trials[0], trial="acme__r0.other-m.1", agent="other", model="m"),
            ),
        )
        for board in (base, head)
    ]
    report = edition(boards[1], base=boards[0], levels=(Level.C1,), fail_on="broken")
    assert explain_regression(report) is None


def test_a_fork_fails_no_check():
    base, head = sides(*[(P, F)] * 44)
    report = edition(head, base=base, levels=(Level.C1,), fail_on="broken", unverified=True)
    assert [check.conclusion for check in level_checks(report)] == ["neutral"]


def check(api, tmp_path, base="", *, fail_on="broken", names=(VIM, AIM)):
    folder = tmp_path / "run"
    if not folder.exists():
        made(folder, names)
    of_run = job(environ(api, tmp_path), base=base, fail_on=fail_on)
    path = folder / "plan.json"
    return publish.check_regression(of_run, path, folder / "artifacts", levels=LEVELS)


def push(api, tmp_path, run_id, sha=OTHER_SHA):
    folder = made(tmp_path / f"push-{run_id}", (VIM, AIM))
    env = environ(api, tmp_path / "env", GITHUB_SHA=sha, GITHUB_RUN_ID=str(run_id))
    results = publish.publish_this_run(
        job(env, comment="off", checks="off"),
        folder / "plan.json",
        folder / "artifacts",
        levels=LEVELS,
    )
    assert [one.fault for one in results] == [None]


def test_without_a_base_the_run_fails(api, tmp_path):
    assert check(api, tmp_path) == (
        "nothing to compare claude-code-sonnet-4-5, codex-gpt-5-1-codex with: the base has no"
        " results of it"
    )


def test_the_leaderboard_is_the_base_by_default(api, tmp_path):
    push(api, tmp_path, 6)
    assert check(api, tmp_path) is None
    assert "## Change since the base" in (tmp_path / "summary.md").read_text()


def test_a_tag_of_the_leaderboard_is_a_base(api, tmp_path):
    push(api, tmp_path, 6)
    api.git.run("tag", "-a", "-m", "x", "release-1", "reb-leaderboard")
    assert check(api, tmp_path, "tag:release-1") is None
    assert check(api, tmp_path, "tag:release-2") == (
        "nothing to compare claude-code-sonnet-4-5, codex-gpt-5-1-codex with: there is no tag"
        " 'release-2' with a leaderboard"
    )


def test_a_scoreboard_is_a_base_and_a_broken_cell_is_named(api, tmp_path):
    board = scoreboards.board()
    rows = [
        replace(row, cells={level: replace(cell, outcome=P) for level, cell in row.cells.items()})
        for row in board.trials
        if row.trial == KVPRESS
    ]
    place = tmp_path / "scoreboard.json"
    documents.write(place, replace(board, trials=tuple(rows), missing={}), kind="scoreboard")
    text = check(api, tmp_path, str(place), names=(KVPRESS,))
    assert text.startswith("claude-code-sonnet-4-5: broken: C0 100% to 0%")
    assert "; NVIDIA/kvpress C0 FAILED: 1 not installed: selective_scan_cuda; what to do" in text
    assert f"{api.git.url}/octo/bench/actions/runs/7#artifacts" in text


def test_another_run_is_a_base_and_the_run_itself_is_not(api, tmp_path):
    api.world.add_run(6, sha=OTHER_SHA, branch="main")
    runs.upload(api, made(tmp_path / "six", (VIM, AIM)), run_id=6)
    assert check(api, tmp_path, "run:6") is None
    assert "is run 7 itself; name an earlier run" in check(api, tmp_path, "run:7")


@pytest.mark.parametrize("outcome", [P, F])
def test_a_run_that_ended_early_needs_a_base_that_leaves_its_answer_alone(outcome, api, tmp_path):
    """The job left out VIM; it can break something only where the base of now passes it."""
    board = scoreboards.board()
    row = next(row for row in board.trials if row.trial == VIM)
    cells = {level: replace(cell, outcome=outcome) for level, cell in row.cells.items()}
    place = tmp_path / "scoreboard.json"
    base = replace(board, trials=(replace(row, cells=cells),), missing={})
    documents.write(place, base, kind="scoreboard")
    other = "NVIDIA__kvpress.codex.1"
    folder = made(tmp_path / "run", (VIM, other), lost=(VIM,))
    stop = make_stop("fail-on: broken passes", (VIM,), ())
    write_stop(folder / "artifacts" / "job", stop)
    text = check(api, tmp_path, str(place))
    unsettled = (
        "1 left-out trial could change the answer against this base; run again without sequential"
    )
    assert (text or "").startswith(unsettled) is (outcome is P)


def test_a_base_that_is_none_is_named(api, tmp_path):
    text = check(api, tmp_path, "somewhere")
    assert "use a path, tag:NAME, run:ID, or leave it empty" in text


def test_the_words_are_told_apart():
    assert parse_fail_on("regression").invalid
    with pytest.raises(UsageError, match="never, invalid, any, regression, broken, or levels"):
        parse_fail_on("regression,C1")
