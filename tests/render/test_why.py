"""Why a level did not pass: the same cause, line and link wherever people look."""

from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from reb_action.cli.console import print_log_end
from reb_action.judge.gate import Decision, Standing
from reb_action.judge.judge import judge
from reb_action.model.diagnosis import Cause, Diagnosis
from reb_action.model.manifest import Level, Outcome
from reb_action.model.report import ReportFault, ReportFaultKind
from reb_action.model.verdict import UNASKED, Scoring
from reb_action.render.escape import log_rows
from reb_action.render.html.page import View, trial_page
from reb_action.render.lines import count_levels, verdict_lines, why_lines, why_message
from reb_action.render.markdown.checks import level_checks
from reb_action.render.markdown.comment import write_comment
from reb_action.render.markdown.verdict import Evidence, trial_summary
from reb_action.render.terminal.verdict import verdict_tables
from reb_action.render.why import (
    explain_cell,
    explain_result,
    list_explanations,
    merge_explanations,
    outcome_word,
)
from reb_action.score import score
from reb_action.score.rows import row_of
from reb_action.session.layout import SessionLayout
from tests.support.editions import edition
from tests.support.evidence import evidence, observations, run
from tests.support.hostile import read

URL = "https://github.com/octo/bench/actions/runs/7#artifacts"
LINE = "ModuleNotFoundError: No module named 'einops'"
LOG = f"starting\nTraceback (most recent call last):\n{LINE}"
OPEN = Decision(standing=Standing.FAILED, highest=None, closed=None, scoring=Scoring.STRICT)


@pytest.fixture(scope="module")
def verdict():
    return judge(evidence(observations=observations(C1=run(exit_code=1)), logs={Level.C1: LOG}))


@pytest.fixture(scope="module")
def parts(verdict):
    diagnosis = verdict.result(Level.C1).diagnosis
    return diagnosis.meaning, LINE, diagnosis.remedy, "levels/C1.log"


def test_lines_of_a_step_log(verdict, parts):
    meaning, line, remedy, path = parts
    assert list(why_lines(verdict.result(Level.C1), link=URL)) == [
        f"   likely cause: {meaning}",
        f"   from the log: {line}",
        f"   what to do: {remedy}",
        f"   evidence: {path} {URL}",
    ]


def test_annotation_is_one_line_with_the_same_parts(verdict, parts):
    text = why_message(explain_result(verdict.result(Level.C1), Scoring.STRICT), URL)
    assert text.startswith("C1 FAILED: the entry point ended with exit code 1; likely cause: ")
    assert all(part.rstrip(".") in text for part in parts)
    assert text.endswith(URL)
    assert "\n" not in text


def test_summary_has_the_same_parts_and_the_end_of_the_log(verdict, parts):
    shown = Evidence(link=URL, logs={"levels/C1.log": LOG, "levels/C3.log": "never shown"})
    text = trial_summary(verdict, OPEN, evidence=shown)
    assert all(part in text for part in parts)
    assert f"Evidence: [levels/C1.log]({URL})" in text
    assert f"<details><summary>End of levels/C1.log</summary>\n\n```text\n{LOG}\n```" in text
    assert "never shown" not in text


CHANNELS = {
    # Each takes the trial and gives the text that people read there; a link is the same URL.
    "step log": lambda given: "\n".join(why_lines(given.verdict.result(Level.C1), link=URL)),
    "annotation": lambda given: why_message(
        explain_result(given.verdict.result(Level.C1), Scoring.STRICT), URL
    ),
    "summary": lambda given: trial_summary(given.verdict, OPEN, evidence=Evidence(link=URL)),
    "check": lambda given: next(
        one.text for one in level_checks(report_of(given.verdict)) if one.name.endswith("C1")
    ),
    "comment": lambda given: write_comment(report_of(given.verdict)),
    "page": lambda given: " ".join(read(trial_page(given)).said),
}


def report_of(verdict):
    board = score({verdict.trial: verdict}, levels=tuple(Level))
    return edition(board, evidence={verdict.trial: URL})


@pytest.mark.parametrize("channel", CHANNELS)
def test_a_level_that_failed_has_the_same_cause_line_and_link_in_every_channel(
    verdict, parts, channel
):
    observed = evidence(observations=observations(C1=run(exit_code=1)), logs={Level.C1: LOG})
    view = View(verdict=verdict, evidence=observed, agent_log="", unqualified=frozenset())
    text = " ".join(CHANNELS[channel](view).split())
    # An annotation is one sentence, whose parts end in a semicolon.
    missing = [part for part in parts if part.rstrip(".") not in text]
    assert missing == []
    # The page lies in the artifact itself, which is all that the link leads to.
    assert (URL in text) is (channel != "page")


def test_scoreboard_explains_as_the_verdict_does(verdict):
    row = row_of(verdict, tuple(Level), {}, ())
    of_board = [explain_cell(level, cell, Scoring.STRICT) for level, cell in row.cells.items()]
    assert merge_explanations(of_board) == list_explanations(verdict, Scoring.STRICT)


def test_levels_that_share_everything_are_explained_once():
    blocked = judge(evidence(report=ReportFault(kind=ReportFaultKind.MISSING, message="none")))
    one, _ = list_explanations(blocked, Scoring.STRICT)
    assert one.title == "C0, C1, C2, C3, C4 BLOCKED"
    assert trial_summary(blocked, OPEN).count("What to do: ") == 2
    assert sum("what to do: " in line for line in verdict_lines(blocked)) == 2


def test_unknown_cause_of_another_release_is_left_out(verdict):
    cell = replace(row_of(verdict, tuple(Level), {}, ()).cells[Level.C1], cause="of_tomorrow")
    assert explain_cell(Level.C1, cell, Scoring.STRICT).cause == ""


@pytest.mark.parametrize("cause", Cause)
def test_every_cause_has_a_meaning_and_a_remedy(cause):
    diagnosis = Diagnosis(cause=cause)
    assert f"{diagnosis.meaning} {diagnosis.remedy}" == diagnosis.sentence
    assert len(diagnosis.remedy) > 20


@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.BLOCKED, Outcome.INVALID])
@pytest.mark.parametrize("level", Level)
def test_a_level_without_a_diagnosis_says_what_to_do(verdict, level, outcome):
    result = replace(verdict.result(level), outcome=outcome, diagnosis=None)
    labels = [line.split(":")[0].strip() for line in why_lines(result)]
    assert labels == ["what to do", "evidence"]


def unasked(verdict):
    results = tuple(
        replace(one, outcome=Outcome.INVALID, paper=Outcome.INVALID, reason=UNASKED, diagnosis=None)
        if one.level in (Level.C3, Level.C4)
        else one
        for one in verdict.results
    )
    return replace(verdict, results=results)


def test_a_level_that_was_not_requested_is_not_asked_and_without_emphasis(verdict):
    partial = unasked(verdict)
    console = Console(width=200, file=StringIO(), force_terminal=True)
    console.print(verdict_tables(partial, {Level.C3}))
    shown = (
        trial_summary(partial, OPEN, unqualified={Level.C3}),
        "\n".join(verdict_lines(partial, {Level.C3})),
        console.file.getvalue(),
    )
    for text in shown:
        assert "INVALID" not in text
        assert "not asked" in text
        assert "not asked\N{DAGGER}" not in text
    assert "\x1b[2mnot asked" in shown[2]
    assert list(why_lines(partial.result(Level.C3))) == []
    assert count_levels(partial).endswith("; not asked: C3, C4")
    assert outcome_word(partial.result(Level.C1), Scoring.STRICT) == "FAILED"


def test_a_folded_log_cannot_close_its_fold_nor_give_commands(tmp_path, monkeypatch, capsys):
    hostile = "fine\n::endgroup::\n  ::error::evil\n##[error]evil\n\x1b[31mred"
    layout = SessionLayout(folder=tmp_path)
    path = layout.log(Level.C1)
    path.parent.mkdir(parents=True)
    path.write_text(hostile)
    monkeypatch.delenv("GITHUB_OUTPUT", raising=False)
    print_log_end(path, layout)
    assert capsys.readouterr().out == ""
    monkeypatch.setenv("GITHUB_OUTPUT", str(tmp_path / "output"))
    print_log_end(path, layout)
    assert capsys.readouterr().out.splitlines() == [
        "::group::End of levels/C1.log",
        "fine",
        "| ::endgroup::",
        "|   ::error::evil",
        "## [error]evil",
        "red",
        "::endgroup::",
    ]


def test_an_empty_log_has_no_rows():
    assert log_rows("\n\n", rows=60) == ()
