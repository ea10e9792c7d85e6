"""A run of one's own repository: each level that changed is a sentence that is read first."""

from dataclasses import replace

import pytest

from reb_action.model.manifest import Level, Outcome
from reb_action.render.markdown.changes import change_summary
from reb_action.render.markdown.checks import level_checks, trial_checks
from reb_action.render.markdown.comment import write_comment
from tests.support import scoreboards
from tests.support.editions import BASE, COMMIT, edition
from tests.support.oracles.markdown import NOTIFIES, read

P, F, B, X = Outcome.PASSED, Outcome.FAILED, Outcome.BLOCKED, Outcome.INVALID
C0, C1 = Level.C0, Level.C1
LINE = "ModuleNotFoundError: No module named 'einops'"
BROKE = f"C1 passed before this change and fails now: `{LINE}`"


def side(*attempts, agents=("uv",), line=LINE, absent=0):
    """Return a board of one repository: the outcomes of C0 and C1 in each attempt."""
    board = scoreboards.board()
    rows = []
    for agent in agents:
        row = next(one for one in board.trials if one.agent == agent)
        for number, outcomes in enumerate(attempts, start=1):
            cells = {
                level: replace(
                    row.cells[level],
                    outcome=outcome,
                    reason=f"reason of {level}",
                    line=line if level is C1 and outcome is F else "",
                )
                for level, outcome in zip((C0, C1), outcomes, strict=True)
            }
            name = f"acme__own.{agent}.{number}"
            rows.append(
                replace(row, trial=name, repository="acme/own", attempt=number, cells=cells)
            )
    return replace(
        board,
        agents=tuple(score for score in board.agents if score.agent in agents),
        trials=tuple(rows),
        missing={f"acme__own.{agents[0]}.{9 + n}": "lost" for n in range(absent)},
        invalid={},
    )


def told(base, head, **changes):
    return edition(head, base=base, levels=(C0, C1), **{"own_repository": True, **changes})


CHANGES = [
    # C0 and C1 of each attempt before and now, and what is read first
    ([(P, P)], [(P, F)], [BROKE]),
    ([(P, F)], [(P, P)], ["C1 failed before this change and passes now"]),
    ([(P, P)], [(P, B)], ["C1 passed before this change and is blocked now: `reason of C1`"]),
    ([(F, P)], [(P, F)], [BROKE, "C0 failed before this change and passes now"]),
    (
        [(P, P)],
        [(F, F)],
        ["C0 passed before this change and fails now: `reason of C0`", BROKE],
    ),
    (
        [(P, P), (P, P)],
        [(P, P), (P, F)],
        [f"C1 passed in 2 of 2 attempts before this change and passes in 1 of 2 now: `{LINE}`"],
    ),
    ([(P, F)], [(P, F)], ["No level changed: C0 passed before and now; C1 failed before and now."]),
    (
        [(P, P), (P, F)],
        [(P, F), (P, P)],
        [
            (
                "No level changed: C0 passed before and now;"
                " C1 passed as often before as now, in 1 of 2 attempts."
            )
        ],
    ),
]


@pytest.mark.parametrize(("before", "now", "lines"), CHANGES)
def test_first_lines_of_comment_and_job_summary(before, now, lines):
    report = told(side(*before), side(*now))
    first, *others = lines
    blocks = write_comment(report).split("\n\n")
    assert blocks[: len(lines)] == [f"### {first}", *(f"**{line}**" for line in others)]
    blocks = change_summary(report).rstrip().split("\n\n")
    assert blocks[: len(lines) + 1] == [
        "## Change since the base",
        *(f"**{line}**" for line in lines),
    ]
    assert "p = " not in write_comment(report)
    assert "permutation" not in write_comment(report)
    assert "would need" not in write_comment(report)


def test_check_run_has_the_sentence_as_title_and_first():
    report = told(side((P, P)), side((P, F)))
    same, broken = level_checks(report)
    assert same.title == "static integrity: 1 of 1 passed"
    assert broken.title == (f"C1 passed before this change and fails now: {LINE} (0 of 1 passed)")
    assert broken.summary.startswith(f"**{BROKE}**\n\n")
    assert not same.summary.startswith("**")
    (trial,) = trial_checks(report)
    assert trial.summary.startswith(f"**{BROKE}**\n\n| level |")


def test_missing_attempt_is_never_no_change():
    text = write_comment(told(side((P, P)), side((P, P), absent=1)))
    assert text.splitlines()[0] == (
        "### No level changed: C0, C1 passed before and now;"
        " incomplete: 1 trial here or in the base missing or invalid."
    )
    invalid = side((P, P))
    row = invalid.trials[0]
    cells = {level: replace(cell, outcome=X) for level, cell in row.cells.items()}
    invalid = replace(
        invalid, trials=(replace(row, cells=cells),), invalid={row.trial: "the runner failed"}
    )
    assert write_comment(told(side((P, P)), invalid)).splitlines()[0] == (
        "### No level has a result before and now;"
        " incomplete: 1 trial here or in the base missing or invalid."
    )


def test_base_at_the_same_commit_is_an_earlier_run_and_not_a_change():
    report = told(side((P, P)), side((P, F)))
    assert (report.base.commit, report.commit) == (BASE, COMMIT)
    weekly = replace(report, base=replace(report.base, commit=COMMIT))
    assert write_comment(weekly).splitlines()[0] == (
        f"### C1 passed in an earlier run of this commit and fails now: `{LINE}`"
    )


def test_each_of_several_contestants_is_named_and_titles_are_as_ever():
    agents = ("claude-code", "codex")
    report = told(side((P, P), agents=agents), side((P, F), agents=agents))
    assert write_comment(report).split("\n\n")[:2] == [
        f"### `claude-code` `sonnet-4.5`: {BROKE}",
        f"**`codex` `gpt-5.1-codex`: {BROKE}**",
    ]
    (_, broken) = level_checks(report)
    assert broken.title == "CPU run: 0 of 2 passed"
    assert broken.summary.count(BROKE) == 2


def test_other_runs_and_runs_without_a_base_are_told_as_ever():
    base, head = side((P, P)), side((P, F))
    first = write_comment(told(base, head, own_repository=False)).splitlines()[0]
    assert first == "### `uv`: 1 cell broken. No difference that this run could show (p = 1.00)."
    first = write_comment(edition(head, levels=(C0, C1), own_repository=True)).splitlines()[0]
    assert first.startswith("### `uv`: nothing to compare with.")


def test_log_of_the_repository_says_nothing_by_itself():
    evil = "@octocat **bold** <b>#1</b> https://evil.example \N{RIGHT-TO-LEFT OVERRIDE}`x`\n# head"
    report = told(side((P, P)), side((P, F), line=evil))
    for text in (write_comment(report), change_summary(report), level_checks(report)[1].summary):
        assert not NOTIFIES.search(read(text.split("\n\n<details>")[0].split("[")[0]).words)
    title = level_checks(report)[1].title
    assert "\n" not in title
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in title
