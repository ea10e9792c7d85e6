"""Folders of artifacts as a run, a user or a cheater leaves them, put together."""

import hashlib
import io
import json
import os
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from reb_action import documents
from reb_action.cli.console import print_scoreboard
from reb_action.cli.main import cli
from reb_action.corpus import manifests
from reb_action.errors import UsageError
from reb_action.github.context import Context
from reb_action.judge import gate
from reb_action.judge.judge import judge
from reb_action.model.manifest import Level
from reb_action.model.plan import Entry, Plan, PlannedTrial
from reb_action.model.scoreboard import Scoreboard
from reb_action.model.verdict import Scoring
from reb_action.results import plan_file
from reb_action.results.collection import collect, explain_failure
from reb_action.results.scoreboard import score_folders
from reb_action.session.layout import SessionLayout
from reb_action.workflow.report import report_run
from tests.support.evidence import run as failed_run
from tests.support.scoreboards import evidence_of
from tests.support.trial_folders import put

VIM, AIM = "hustvl__Vim.codex.1", "apple__ml-aim.claude-code.1"
"""One trial in which all is observed, and one with an invalid level."""


def place(folder, name):
    slug, agent, attempt = name.rsplit(".", 2)
    evidence = evidence_of(slug.replace("__", "/"), agent, int(attempt))
    return put(folder, evidence)


def plan_of(*names):
    trials = tuple(
        PlannedTrial(id=name, repository=name.split(".")[0].replace("__", "/"), agent="codex",
                     argument=None, attempt=1)
        for name in names
    )  # fmt: skip
    entries = tuple(Entry(name=one.id, trials=(one,), seconds=1) for one in trials)
    return Plan(entries=entries)


def change(folder):
    path = folder / "levels" / "C1.json"
    document = json.loads(path.read_text())
    document["value"]["seconds"] = 1.5
    path.write_text(json.dumps(document))


def run(*argv):
    return CliRunner().invoke(cli, ["score", *map(str, argv)], catch_exceptions=True)


@pytest.mark.parametrize(
    "where",
    ["reb-x.a1", f"reb-batch-001.a1/{VIM}", f"a/b/c/reb-x.a1/{VIM}", ""],
    ids=["an artifact", "of a batch", "nested", "the folder itself"],
)
def test_trial_is_found_however_nested(tmp_path, where):
    verdict = place(tmp_path / "in" / where, VIM)
    assert collect([tmp_path / "in"]).found == {VIM: verdict}


def test_scratch_and_depths_are_not_searched(tmp_path):
    place(tmp_path / "reb-x.a1" / "work" / "y", VIM)
    place(tmp_path.joinpath(*"123456789"), AIM)
    assert collect([tmp_path]).found == {}


def test_links_are_not_followed(tmp_path):
    place(tmp_path / "elsewhere" / "x", VIM)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "link").symlink_to(tmp_path / "elsewhere")
    assert collect([tmp_path / "in"]).found == {}


@pytest.mark.parametrize(("first", "second"), [("a1", "a2"), ("a9", "a10")])
def test_later_attempt_of_the_run_counts_even_if_it_is_worse(tmp_path, first, second):
    slug, agent, attempt = VIM.rsplit(".", 2)
    evidence = evidence_of(slug.replace("__", "/"), agent, int(attempt))
    failing = {**evidence.observations, Level.C1: failed_run(exit_code=1)}
    worse = replace(evidence, observations=failing)
    for good, bad in ((first, second), (second, first)):
        place(tmp_path / good / f"reb.k.{VIM}.{good}", VIM)
        put(tmp_path / good / f"reb.k.{VIM}.{bad}", worse)
        later = tmp_path / good / f"reb.k.{VIM}.{second}"
        collected = collect([tmp_path / good])
        assert collected.places == {VIM: SessionLayout(folder=later)}
        assert collected.superseded == 1


def invalid(folder):
    slug, agent, attempt = VIM.rsplit(".", 2)
    evidence = evidence_of(slug.replace("__", "/"), agent, int(attempt))
    put(folder, replace(evidence, gpus_promised=0))


def killed(folder):
    place(folder, VIM)
    (folder / "verdict.json").unlink()


@pytest.mark.parametrize(
    "spoil", [invalid, killed, lambda folder: (place(folder, VIM), change(folder))]
)
def test_later_attempt_that_is_not_finished_replaces_no_finished_one(tmp_path, spoil):
    verdict = place(tmp_path / f"reb.k.{VIM}.a1", VIM)
    spoil(tmp_path / f"reb.k.{VIM}.a2")
    collected = collect([tmp_path])
    assert collected.found == {VIM: verdict}
    assert collected.places[VIM].folder.name == f"reb.k.{VIM}.a1"
    assert collected.superseded == 1


def test_without_a_finished_one_the_latest_with_a_verdict_counts(tmp_path):
    for number, spoil in enumerate((killed, invalid, killed), 1):
        spoil(tmp_path / f"reb.k.{VIM}.a{number}")
    assert collect([tmp_path]).places[VIM].folder.name == f"reb.k.{VIM}.a2"
    (tmp_path / f"reb.k.{VIM}.a2" / "verdict.json").unlink()
    assert collect([tmp_path]).places[VIM].folder.name == f"reb.k.{VIM}.a3"


@pytest.mark.parametrize(
    "name", ["model-calls.jsonl", "trajectory/stdout", "trajectory/sessions/a.log", "agent.log"]
)
@pytest.mark.parametrize("data", [b"other", b""])
def test_record_of_the_agent_that_was_changed_is_refused_by_its_name(tmp_path, name, data):
    folder = tmp_path / f"reb-{VIM}.a1"
    (folder / name).parent.mkdir(parents=True)
    (folder / name).write_bytes(b"as it was")
    verdict = place(folder, VIM)
    assert (verdict.evidence[name], collect([tmp_path]).found) == (
        hashlib.sha256(b"as it was").hexdigest(),
        {VIM: verdict},
    )
    (folder / name).write_bytes(data)
    refused = f"{name} differs from what was judged: this artifact was changed"
    assert collect([tmp_path]).found == {VIM: refused}


def test_added_record_is_refused_and_only_a_trajectory_may_be_left_out(tmp_path):
    folder = tmp_path / f"reb-{VIM}.a1"
    record, calls = folder / "trajectory" / "stdout", folder / "model-calls.jsonl"
    record.parent.mkdir(parents=True)
    record.write_bytes(b"as it was")
    calls.write_bytes(b"{}")
    verdict = place(folder, VIM)
    record.unlink()
    assert collect([tmp_path]).found == {VIM: verdict}
    record.with_name("more").write_bytes(b"")
    told = "trajectory/more differs from what was judged: this artifact was changed"
    assert collect([tmp_path]).found == {VIM: told}
    record.with_name("more").unlink()
    calls.unlink()
    told = "model-calls.jsonl differs from what was judged: this artifact was changed"
    assert collect([tmp_path]).found == {VIM: told}


def test_names_of_an_agent_that_are_no_text_stay_different(tmp_path):
    folder = tmp_path / f"reb-{VIM}.a1"
    place_of = folder / "trajectory" / "sessions"
    place_of.mkdir(parents=True)
    for number, name in enumerate((b"a\xff", b"a\\xff")):
        Path(os.fsdecode(os.fsencode(place_of) + b"/" + name)).write_text(str(number))
    verdict = place(folder, VIM)
    named = {name: seen for name, seen in verdict.evidence.items() if "sessions" in name}
    assert named == {
        "trajectory/sessions/a\\xff": hashlib.sha256(b"0").hexdigest(),
        "trajectory/sessions/a\\\\xff": hashlib.sha256(b"1").hexdigest(),
    }
    assert collect([tmp_path]).found == {VIM: verdict}


@pytest.mark.parametrize(
    ("fail_on", "told"),
    [("invalid", None), ("any", None), ("C1", None), ("C2", f"{VIM}: C2 was not requested")],
)
def test_what_one_trial_was_not_asked_for_closes_only_by_name(fail_on, told):
    """Beside another trial that was asked for all levels."""
    slug, agent, attempt = VIM.rsplit(".", 2)
    asked = evidence_of(slug.replace("__", "/"), agent, int(attempt))
    seen = {VIM: judge(replace(asked, levels=(Level.C1, Level.C5)))}
    assert explain_failure(seen, tuple(Level), gate.parse_fail_on(fail_on)) == told


def test_later_folder_counts(tmp_path):
    place(tmp_path / "one" / f"reb-{VIM}.a2", VIM)
    verdict = place(tmp_path / "two" / f"reb-{VIM}.a1", VIM)
    change(tmp_path / "one" / f"reb-{VIM}.a2")
    assert collect([tmp_path / "one", tmp_path / "two"]).found == {VIM: verdict}


@pytest.mark.parametrize("spoil", ["session.json", "verdict.json"])
def test_trial_without_a_document_is_named_by_its_folder(tmp_path, spoil):
    folder = tmp_path / f"reb-{VIM}.a1"
    place(folder, VIM)
    (folder / spoil).unlink()
    (why,) = {name: str(why) for name, why in collect([tmp_path]).found.items()}.items()
    assert why[0] == VIM
    assert f"{spoil} does not exist" in why[1]


def test_planned_trials_are_found_or_missing_and_no_other_counts(tmp_path):
    verdict = place(tmp_path / "x", VIM)
    place(tmp_path / "y", AIM)
    found = collect([tmp_path], plan_of(VIM, "a__b.codex.1")).found
    assert found == {VIM: verdict, "a__b.codex.1": "no artifact of this trial was found"}


def test_empty_plan_finds_nothing(tmp_path):
    place(tmp_path / "x", VIM)
    assert collect([tmp_path], plan_of()).found == {}


def test_folder_that_does_not_exist_has_no_trial(tmp_path):
    assert collect([tmp_path / "nowhere"], plan_of(VIM)).found == {
        VIM: "no artifact of this trial was found"
    }


def test_cells_that_no_record_qualifies_are_named(tmp_path):
    place(tmp_path / "x", VIM)
    collected = collect([tmp_path])
    levels = (Level.C0, Level.C1, Level.C3, Level.C4)
    assert collected.unqualified == {(VIM, level) for level in levels}
    assert collected.levels == tuple(Level)


def test_missing_trials_of_the_corpus_count_where_their_manifest_says(tmp_path):
    place(tmp_path / "x", VIM)
    name = "KRLabsOrg__LettuceDetect.codex.1"
    made = score_folders([tmp_path], plan_of(VIM, name), tell=lambda _: None)
    assert set(manifests.find("KRLabsOrg/LettuceDetect").not_applicable) == {Level.C4}
    (agent,) = made.agents
    unseen = {level: share.unseen for level, share in agent.levels[Scoring.PAPER].items()}
    assert unseen == {**dict.fromkeys(Level, 1), Level.C4: 0}


def test_papers_rows_come_with_its_corpus_only(tmp_path):
    place(tmp_path / "x", VIM)
    assert len(score_folders([tmp_path], None, tell=lambda _: None).published) == 4
    assert (
        score_folders([tmp_path], plan_of("own__thing.codex.1"), tell=lambda _: None).published
        == ()
    )


def test_no_trial_is_one_plain_line(tmp_path):
    with pytest.raises(UsageError) as caught:
        score_folders([tmp_path], None, tell=lambda _: None)
    assert str(caught.value) == (f"there is no trial in {tmp_path}; give a folder with artifacts")


def test_command_prints_lines_for_a_pipe(tmp_path):
    place(tmp_path / "x", AIM)
    done = run(tmp_path)
    assert done.exit_code == 0
    assert done.stderr == "without --plan, missing trials are not counted\n"
    assert done.stdout.splitlines()[:3] == [
        "Strict scoring",
        "contestant            C0      C1      C2      C3      C4      C5",
        "claude-code   share   100 %   100 %   100 %   100 %   none    100 %",
    ]
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert " ".join(done.stdout.split()).endswith(
        "1 of 1 trial has a verdict. This comparison is incomplete: 1 invalid."
    )


def test_command_prints_the_document_that_can_be_read_again(tmp_path):
    place(tmp_path / "x", VIM)
    (tmp_path / "scoreboard.json").write_text(run(tmp_path / "x", "--json").stdout)
    read = documents.read(tmp_path / "scoreboard.json", Scoreboard, kind="scoreboard")
    assert read == score_folders([tmp_path / "x"], None, tell=lambda _: None)


def test_command_holds_against_a_plan(tmp_path):
    place(tmp_path / "x", VIM)
    plan_file.write_plan(plan_of(VIM, AIM), tmp_path / "plan.json")
    done = run(tmp_path / "x", "--plan", tmp_path / "plan.json")
    words = " ".join(done.stdout.split())
    assert f"{AIM} missing no artifact of this trial was found" in words
    assert words.endswith("1 of 2 trials have a verdict. This comparison is incomplete: 1 missing.")


def test_name_that_is_wrapped_is_no_command_of_the_runner(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    place(tmp_path / "x", VIM)
    board = score_folders([tmp_path / "x"], None, tell=lambda _: None)
    names = [f"{'n' * number} ::error::{number}" for number in range(30)]
    agents = tuple(replace(board.agents[0], agent=name, contestant=None) for name in names)
    with io.StringIO() as stream, redirect_stdout(stream):
        print_scoreboard(replace(board, agents=agents))
        lines = stream.getvalue().splitlines()
    assert any("::error::" in line for line in lines)
    assert not [line for line in lines if line.lstrip().startswith("::")]


def reported(tmp_path, *names, fail_on="invalid"):
    plan_file.write_plan(plan_of(*names), tmp_path / "plan.json")
    context = Context(output=tmp_path / "output", summary=tmp_path / "summary")
    return report_run(
        tmp_path / "plan.json", tmp_path / "artifacts", levels=tuple(Level),
        fail_on=gate.parse_fail_on(fail_on), context=context, tell=print,
    )  # fmt: skip


def output(tmp_path, name):
    lines = Path(tmp_path / "output").read_text().splitlines()
    return next(lines[n + 1] for n, line in enumerate(lines) if line.startswith(f"{name}<<"))


def test_trial_of_a_forged_plan_is_no_command_for_the_runner(tmp_path, capsys):
    reported(tmp_path, "x ##[error]y\n::error::z")
    assert capsys.readouterr().out.splitlines() == [
        "0 of 1 planned trials have a verdict",
        "run again: x ## [error]y ::error::z",
    ]


def test_report_names_missing_and_invalid_trials_to_run_again(tmp_path, capsys):
    place(tmp_path / "artifacts" / f"reb-{AIM}.a1", AIM)
    closed = reported(tmp_path, AIM, VIM)
    assert output(tmp_path, "complete") == "false"
    assert output(tmp_path, "run-again") == f"{VIM} {AIM}"
    assert capsys.readouterr().out.splitlines() == [
        "1 of 2 planned trials have a verdict",
        f"run again: {VIM}",
        f"run again: {AIM}",
    ]
    assert closed == (
        f"{AIM}: C4 invalid: not measured: C4 needs 2 GPUs, 1 promised;"
        f" {VIM}: no artifact of this trial was found"
    )


def test_report_of_a_whole_run_leaves_a_scoreboard(tmp_path):
    place(tmp_path / "artifacts" / f"reb-{VIM}.a1", VIM)
    assert reported(tmp_path, VIM) is None
    assert (output(tmp_path, "complete"), output(tmp_path, "run-again")) == ("true", "")
    path = Path(output(tmp_path, "scoreboard"))
    board = documents.read(path, Scoreboard, kind="scoreboard")
    assert [row.trial for row in board.trials] == [VIM]
    assert "1 of 1 trial has a verdict." in (tmp_path / "summary").read_text()
