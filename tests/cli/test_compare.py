"""`reb compare`: folders, boards and scoreboards of runs, as lines and as a document."""

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from reb_action import documents
from reb_action.cli.main import cli
from reb_action.errors import UsageError
from reb_action.model.comparison import Comparisons
from reb_action.model.github import RunOrder
from reb_action.model.manifest import Outcome
from reb_action.model.record import Edition, Record, RecordedRun
from reb_action.results.records import name_record
from tests.support import scoreboards
from tests.support.runs import place


def compare(*argv):
    return CliRunner().invoke(cli, ["compare", *map(str, argv)], catch_exceptions=True)


def write_board(path, board):
    documents.write(path, board, kind="scoreboard")
    return path


def changed(board, *, contestant, level, outcome, repositories):
    """Return a scoreboard in which a contestant has another outcome in some repositories."""

    def change(row):
        if row.agent != contestant or row.repository not in repositories:
            return row
        cells = {**row.cells, level: replace(row.cells[level], outcome=outcome)}
        return replace(row, cells=cells)

    return replace(board, trials=tuple(map(change, board.trials)))


def test_a_run_is_compared_with_itself_as_no_difference(tmp_path):
    board = write_board(tmp_path / "scoreboard.json", scoreboards.board())
    result = compare(board, board, "--of-a", "uv", "--of-b", "uv")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert (
        lines[0] == "uv, B against A: no difference that these trials could show (strict scoring)"
    )
    assert lines[1].split()[:4] == ["level", "repos", "A", "B"]
    assert lines[2].split()[:2] == ["C0", "6"]


def test_six_repositories_that_all_got_worse_are_worse(tmp_path):
    """Six that differ in one direction have p = 1/32, which is enough for one level alone."""
    passed = changed(
        scoreboards.board(), contestant="uv", level="C1", outcome=Outcome.PASSED,
        repositories=set(scoreboards.REPOSITORIES) - {"SWivid/F5-TTS"},
    )  # fmt: skip
    failed = changed(
        passed, contestant="uv", level="C1", outcome=Outcome.FAILED,
        repositories=set(scoreboards.REPOSITORIES) - {"SWivid/F5-TTS"},
    )  # fmt: skip
    a, b = write_board(tmp_path / "a.json", passed), write_board(tmp_path / "b.json", failed)
    result = compare(a, b, "--of-a", "uv", "--levels", "C1", "--json")
    document = json.loads(result.stdout)
    assert documents.decode(result.stdout.encode(), Comparisons, kind="comparisons", name="b")
    (comparison,) = document["value"]["comparisons"]
    (level,) = comparison["levels"]
    assert (level["a"], level["b"], level["higher"], level["lower"]) == (1.0, 0.0, 0, 5)
    # C1 does not apply to one of the six, and five cannot show it.
    assert (level["p"], comparison["finding"]) == (0.0625, "no_difference")
    text = compare(a, b, "--of-a", "uv", "--levels", "C1").stdout
    assert "C1: a difference of -100 points would need 6 repositories" in text


def test_two_contestants_of_one_run_and_the_lift_over_the_baseline(tmp_path):
    board = write_board(tmp_path / "scoreboard.json", scoreboards.board())
    name = "codex-gpt-5-1-codex"
    result = compare(board, board, "--of-a", "uv", "--of-b", name, "--json")
    (comparison,) = json.loads(result.stdout)["value"]["comparisons"]
    assert (comparison["a"], comparison["b"]) == ("uv", name)
    assert comparison["unseen"] == [scoreboards.MISSING]
    assert {lift["baseline"] for lift in comparison["lifts"]} == {"uv"}
    assert comparison["finding"] == "incomplete"
    lines = compare(board, board, "--of-a", "uv", "--of-b", name).stdout.splitlines()
    assert lines[0].startswith(f"{name} (B) against uv (A): no difference shown, and incomplete")
    assert f"missing or invalid: 1 trial, such as {scoreboards.MISSING}" in lines


def test_folders_of_artifacts_are_compared(tmp_path):
    for side in ("a", "b"):
        for name in ("hustvl__Vim.uv.1", "apple__ml-aim.uv.1"):
            place(tmp_path / side / f"reb-{name}.a1", name)
    result = compare(tmp_path / "a", tmp_path / "b")
    assert result.exit_code == 0
    assert result.stdout.startswith("uv, B against A: no difference that these trials could show")


def write_records(folder, run_id, *, manifest):
    """Write a board on disk with a record of each trial of the sample."""
    order = RunOrder(run_id=run_id, attempt=1)
    run = RecordedRun(order=order, commit="c" * 40, url="", published="")
    for row in scoreboards.board().trials:
        record = Record(
            trial=row.trial, repository=row.repository, contestant=row.agent, attempt=row.attempt,
            edition=Edition(scoring=1, commit="a", manifest=manifest), run=run, reb="0",
            complete=True, row=row,
        )  # fmt: skip
        documents.write(folder / name_record(record), record, kind="record")
    return folder


def test_boards_are_compared_if_their_manifests_are_the_same(tmp_path):
    a = write_records(tmp_path / "a", 1, manifest="m")
    b = write_records(tmp_path / "b", 2, manifest="m")
    lines = compare(a, b).stdout.splitlines()
    findings = {line.split(",")[0]: line.split(": ")[1] for line in lines if "against" in line}
    same = "no difference that these trials could show (strict scoring)"
    assert findings == {
        # One of its trials is invalid.
        "claude-code-sonnet-4-5": "no difference shown, and incomplete (strict scoring)",
        "codex-gpt-5-1-codex": same,
        "uv": same,
    }
    other = write_records(tmp_path / "c", 3, manifest="other")
    result = compare(a, other)
    assert isinstance(result.exception, UsageError)
    assert "has another scoring version or manifest" in str(result.exception)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--of-a", "nobody"), "there is no contestant 'nobody'; there are "),
        (("--of-b", "nobody"), "there is no contestant 'nobody'; there are "),
    ],
)
def test_a_contestant_that_is_not_there_is_named(tmp_path, options, why):
    board = write_board(tmp_path / "scoreboard.json", scoreboards.board())
    result = compare(board, board, *options)
    assert isinstance(result.exception, UsageError)
    assert str(result.exception).startswith(why)
