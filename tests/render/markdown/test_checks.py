"""Check runs: one for each level or trial, within the limits that GitHub documents."""

from dataclasses import replace

import pytest

from reb_action.model.github import (
    ANNOTATIONS_PER_REQUEST,
    CHECK_BYTES,
    TITLE_CHARACTERS,
    Annotation,
    AnnotationLevel,
    Conclusion,
)
from reb_action.model.manifest import Level, Outcome
from reb_action.render.markdown.checks import level_checks, trial_checks, truncate
from tests.support import scoreboards
from tests.support.editions import BASE_URL, COMMIT, RUN_URL, edition, flipped, grown, renamed
from tests.support.github_api.limits import ANNOTATION_BYTES
from tests.support.oracles.markdown import NOTIFIES, read


@pytest.fixture(scope="module")
def board():
    return scoreboards.board()


def with_outcomes(board, *outcomes):
    """Return a board of one trial for each outcome, which is that of its C1, and nothing else."""
    row = board.trials[0]
    cells = [{Level.C1: replace(row.cells[Level.C1], outcome=one)} for one in outcomes]
    rows = tuple(replace(row, trial=f"t{n}", cells=one) for n, one in enumerate(cells))
    return replace(board, trials=rows, missing={}, invalid={})


def test_one_check_for_each_level(board):
    checks = level_checks(edition(board))
    assert [one.name for one in checks] == [f"researchenvbench / C{n}" for n in range(6)]
    assert [one.external_id for one in checks] == [f"reb:7.2:C{n}" for n in range(6)]
    assert {(one.head_sha, one.details_url) for one in checks} == {(COMMIT, RUN_URL)}
    assert [one.title for one in checks] == [
        "static integrity: 22 of 35 passed, 1 unseen",
        "CPU run: 18 of 29 passed, 1 unseen",
        "CUDA alignment: 20 of 35 passed, 1 unseen",
        "single-GPU run: 14 of 35 passed, 1 unseen",
        "distributed run: 5 of 28 passed, 2 unseen",
        "honest report: 15 of 35 passed, 1 unseen",
    ]


P, F, N, X = Outcome.PASSED, Outcome.FAILED, Outcome.NOT_APPLICABLE, Outcome.INVALID
CONCLUSIONS = [
    # outcomes, fail-on: conclusion, and of a workflow that a fork may have written
    ((P, P), "invalid", Conclusion.SUCCESS, Conclusion.NEUTRAL),
    ((P, N), "invalid", Conclusion.SUCCESS, Conclusion.NEUTRAL),
    ((N, N), "invalid", Conclusion.SKIPPED, Conclusion.SKIPPED),
    ((P, F), "invalid", Conclusion.NEUTRAL, Conclusion.NEUTRAL),
    ((P, F), "C1", Conclusion.FAILURE, Conclusion.FAILURE),
    ((P, F), "any", Conclusion.FAILURE, Conclusion.FAILURE),
    ((P, F), "C0", Conclusion.NEUTRAL, Conclusion.NEUTRAL),
    ((P, X), "invalid", Conclusion.FAILURE, Conclusion.FAILURE),
    ((P, X), "never", Conclusion.NEUTRAL, Conclusion.NEUTRAL),
    ((P, X), "C1", Conclusion.FAILURE, Conclusion.FAILURE),
    ((P, F), "never", Conclusion.NEUTRAL, Conclusion.NEUTRAL),
]


@pytest.mark.parametrize(("outcomes", "fail_on", "trusted", "forked"), CONCLUSIONS)
def test_conclusion_of_a_level(board, outcomes, fail_on, trusted, forked):
    few = with_outcomes(board, *outcomes)
    for unverified, expected in ((False, trusted), (True, forked)):
        told = edition(few, fail_on=fail_on, levels=(Level.C1,), unverified=unverified)
        (check,) = level_checks(told)
        assert check.conclusion is expected
        assert check.title.startswith("unverified (fork workflow): ") is unverified


def test_missing_trial_is_no_success(board):
    few = replace(with_outcomes(board, P), missing={"gone": "lost"})
    for fail_on, expected in (("invalid", "failure"), ("C1", "failure"), ("never", "neutral")):
        (check,) = level_checks(edition(few, fail_on=fail_on, levels=(Level.C1,)))
        assert check.conclusion == expected
        assert "| `gone` | MISSING: `lost` · run this trial again |" in check.text


def test_text_names_what_failed_and_why(board):
    (check,) = level_checks(edition(with_outcomes(board, P, F), levels=(Level.C1,)))
    reason = board.trials[0].cells[Level.C1].reason
    line = check.text.splitlines()[2]
    assert line.startswith(f"| `t1` | C1 FAILED: `{reason}` · The compiled part of a package")
    assert f"[levels/C1.log]({RUN_URL}#artifacts) |" in line


def test_nothing_failed_is_no_text(board):
    (check,) = level_checks(edition(with_outcomes(board, P), levels=(Level.C1,)))
    assert check.text is None


@pytest.mark.parametrize("count", [0, 1, 50, 51, 120])
def test_annotations_stop_at_what_one_request_takes(board, count):
    few = with_outcomes(board, P, *[F] * count)
    files = {row.trial: "bench/tiny.yaml" for row in few.trials}
    (check,) = level_checks(edition(few, levels=(Level.C1,), files=files))
    assert len(check.annotations) == min(count, ANNOTATIONS_PER_REQUEST)


def test_annotation_stands_on_the_file_that_describes_the_trial(board):
    few = with_outcomes(board, F, F)
    (check,) = level_checks(edition(few, levels=(Level.C1,), files={"t1": "bench/tiny.yaml"}))
    reason = board.trials[0].cells[Level.C1].reason
    assert check.annotations == (
        Annotation(
            path="bench/tiny.yaml", start_line=1, end_line=1, level=AnnotationLevel.WARNING,
            message=check.annotations[0].message, title="t1",
        ),
    )  # fmt: skip
    message = check.annotations[0].message
    assert message.startswith(f"C1 FAILED: {reason}; likely cause: The compiled part of a package")
    assert "from the log: ModuleNotFoundError: No module named 'selective_scan_cuda'" in message
    assert message.endswith(f"evidence: levels/C1.log {RUN_URL}#artifacts")


def test_a_level_that_got_worse_says_so_in_title_and_first_line(board):
    row = board.trials[0]
    sides = []
    for outcome in (P, F):
        cells = {Level.C1: replace(row.cells[Level.C1], outcome=outcome)}
        rows = tuple(
            replace(row, trial=f"acme__r{n}.a.1", repository=f"acme/r{n}", cells=cells)
            for n in range(44)
        )
        sides.append(replace(board, trials=rows, missing={}, invalid={}))
    (check,) = level_checks(edition(sides[1], base=sides[0], levels=(Level.C1,)))
    assert check.title == "CPU run, worse than the base: 0 of 44 passed"
    assert check.summary.splitlines()[0] == (
        "**`claude-code` `sonnet-4.5`: 44 cells broken; worse at C1 (p = 1e-13).**"
    )


def test_one_check_for_each_trial_and_each_missing_one(board):
    checks = trial_checks(edition(board, fail_on="C0"))
    assert len(checks) == 36
    assert checks[0].name == "researchenvbench / NVIDIA__kvpress.claude-code.1"
    assert checks[0].external_id == "reb:7.2:NVIDIA__kvpress.claude-code.1"
    assert (checks[0].conclusion, checks[0].title) == ("failure", "1 of 6 passed")
    assert "| C2 | CUDA alignment | passed |" in checks[0].summary
    assert checks[3].conclusion == "success"
    assert checks[-1].conclusion == "failure"
    assert checks[-1].summary == (
        "There is no verdict: `no artifact of this trial was found`. Run this trial again."
    )


@pytest.mark.parametrize("length", range(CHECK_BYTES - 3, CHECK_BYTES + 4))
def test_text_is_cut_by_bytes_on_whole_lines(length):
    """A character of three bytes lies across the limit, wherever the text begins."""
    text = "x" * (length % 3) + "\n" + "\N{EURO SIGN}" * (length // 6) + "\n" + "y" * (length // 2)
    cut = truncate(text)
    assert len(cut.encode()) <= CHECK_BYTES
    if len(text.encode()) <= CHECK_BYTES:
        assert cut == text
    else:
        kept, note = cut.split("\n\nTruncated: ")
        assert text.startswith(f"{kept}\n")
        assert note == "see the job summary and the artifacts for the rest.\n"


@pytest.mark.parametrize("size", [1, 300])
def test_every_field_keeps_its_limit_whatever_the_names(board, size):
    crowd = renamed(grown(board, 1500), lambda text: f"{text}\N{ROCKET}" * size if text else "")
    files = {row.trial: "bench/tiny.yaml" for row in crowd.trials}
    told = edition(crowd, base=flipped(crowd), files=files)
    for check in (
        *level_checks(told),
        *trial_checks(replace(told, board=replace(crowd, trials=crowd.trials[:9]))),
    ):
        assert max(len(check.summary.encode()), len((check.text or "").encode())) <= CHECK_BYTES
        assert len(check.title) <= TITLE_CHARACTERS
        for one in check.annotations:
            assert len(one.message.encode()) <= ANNOTATION_BYTES
            assert len(one.title) <= TITLE_CHARACTERS


def test_nobody_else_speaks_in_a_check(board):
    crowd = renamed(board, lambda text: f"@evil #1 <b>evil|`evil`\n::error::{text}\u202e")
    told = edition(crowd, base=flipped(crowd))
    for check in (*level_checks(told), *trial_checks(told)):
        for text in (check.summary, check.text or "-"):
            seen = read(text)
            assert "evil" not in seen.words
            assert NOTIFIES.findall(seen.words) == []
            assert set(seen.tags) <= {"<br>"}
            assert set(seen.links) <= {f"{RUN_URL}#artifacts", BASE_URL}
        assert "\n" not in check.name + check.title
        assert "\u202e" not in check.name + check.title + check.external_id


def test_no_character_of_four_bytes_is_left(board):
    crowd = renamed(board, lambda text: f"{text}\N{ROCKET}" if text else "")
    files = {row.trial: "bench/tiny.yaml" for row in crowd.trials}
    told = edition(crowd, base=flipped(crowd), files=files)
    for check in (*level_checks(told), *trial_checks(told)):
        assert max(map(ord, repr(check))) < 0x10000
