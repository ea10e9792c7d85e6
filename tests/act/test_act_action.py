"""The action as another repository uses it: each case is a job of one run of act."""

import pytest

from reb_action.judge.gate import WORDS

GREEN = ["set-up", "start", "agent", "C0", "C1", "C5", "verdict", "stop", "gate"]

LEVELS = "C0, C1, C2, C3, C4, C5"
WHY = """\
example__tiny.replay.1
C0 FAILED: 1 not installed: tinydep; what to do: Install what is missing into the environment that
"""

OUTCOMES = {
    # case: outcome, highest level, how the agent ended, how the gate ended
    "green": ("passed", "C1", "done", "success"),
    "bare": ("failed", "none", "done", "failure"),
    "broken": ("failed", "C0", "done", "failure"),
    "liar": ("failed", "C1", "done", "success"),
    "crash": ("failed", "none", "crashed", "success"),
    "slow": ("failed", "none", "timed_out", "failure"),
    "missing": ("failed", "none", "gave_up", "success"),
    "hurried": ("invalid", "none", "", "failure"),
    "typo": ("invalid", "none", "", None),
}


@pytest.mark.parametrize("case", OUTCOMES)
def test_outcome_of_case(cases, case):
    run = cases.of(case)
    told = run.outputs("reb")
    seen = (told["outcome"], told["highest-level"], told["agent-ending"], run.step("reb", "gate"))
    assert seen == OUTCOMES[case]


@pytest.mark.parametrize("case", OUTCOMES)
def test_action_fails_exactly_with_gate_or_start(cases, case):
    run = cases.of(case)
    failed = "failure" in (run.step("reb", "gate"), run.step("reb", "start"))
    assert run.step("reb") == ("failure" if failed else "success")


def test_green_trial_takes_every_step(cases):
    assert cases.of("green").steps("reb") == dict.fromkeys(GREEN, "success")


@pytest.mark.parametrize("case", OUTCOMES)
def test_surroundings_are_as_before(cases, case):
    assert cases.of(case).step("same") == "success"


@pytest.mark.parametrize("case", [case for case in OUTCOMES if case != "typo"])
def test_summary_is_written_once_and_names_the_trial(cases, case):
    summaries = cases.of(case).summaries
    assert len(set(summaries)) == 1
    assert summaries[0].startswith("## `example__tiny.")


def test_summary_says_why(cases):
    lines = cases.of("broken").summaries[0].splitlines()
    why = "`the entry point ended with exit code 1`"
    assert f"| C1 | CPU run | FAILED\N{DAGGER} | FAILED\N{DAGGER} | {why} |" in lines
    assert lines[-1] == "Failed by `fail-on`: `C1 failed: the entry point ended with exit code 1`"


@pytest.mark.parametrize(
    ("case", "errors"),
    [
        ("green", []),
        ("bare", [WHY[:-1], "failed by the input fail-on: C0 failed: 1 not installed: tinydep"]),
        ("crash", []),
        (
            "typo",
            [f"fail-on is 'sometimes'; use {', '.join(WORDS)}, or levels of {LEVELS} and setup"],
        ),
    ],
)
def test_annotations_are_our_own_and_say_why(cases, case, errors):
    found = cases.of(case).errors
    assert [one[: len(of)] for one, of in zip(found, errors, strict=True)] == errors
    for why in found[:-1]:
        assert "from the log: ModuleNotFoundError: No module named 'tinydep'; what to do: " in why
        assert "evidence: levels/C1.log http://127.0.0.1:9/acme/bench/actions/runs/1#art" in why


def test_deadline_stops_before_the_runner_does(cases):
    run = cases.of("hurried")
    assert run.step("reb", "agent") == "failure"
    assert run.step("reb", "verdict") == "success"
    assert "so it was not started; continue in another job" in run.errors[0]


def test_level_that_is_not_asked_for_is_no_step(cases):
    assert "C5" not in cases.of("crash").steps("reb")
    assert "C2" not in cases.of("green").steps("reb")


@pytest.mark.docker
def test_green_case_in_a_container(container):
    run = container.of("container")
    told = run.outputs("reb")
    assert (told["outcome"], told["highest-level"]) == ("passed", "C1"), run.log
    assert run.steps("reb") == dict.fromkeys(GREEN, "success")
    assert run.step("same") == "success"
