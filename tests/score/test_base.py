"""A run against its base: which cells changed, and where a contestant got worse."""

from dataclasses import replace

import pytest

from reb_action.model.comparison import Attempts
from reb_action.model.manifest import Level, Outcome
from reb_action.model.verdict import Scoring
from reb_action.score.base import (
    CellChange,
    Turn,
    compare_with_base,
    has_changes,
    list_changes,
    list_worse,
)
from tests.support import scoreboards

TURNS = [
    # before, now: passed of counted
    ((2, 2), (0, 2), Turn.BROKEN),
    ((1, 1), (0, 3), Turn.BROKEN),
    ((0, 2), (2, 2), Turn.FIXED),
    ((2, 2), (1, 2), Turn.FLIPPED),
    ((1, 2), (0, 2), Turn.FLIPPED),
    ((1, 2), (2, 2), Turn.FLIPPED),
    ((1, 2), (2, 4), Turn.UNCHANGED),
    ((0, 1), (0, 5), Turn.UNCHANGED),
]


@pytest.fixture(scope="module")
def board():
    return scoreboards.board()


@pytest.mark.parametrize(("before", "now", "turn"), TURNS)
def test_turn_of_a_cell(before, now, turn):
    sides = [Attempts(passed=one[0], counted=one[1]) for one in (before, now)]
    cell = CellChange(
        contestant="x", level=Level.C1, repository="a/b", before=sides[0], now=sides[1]
    )
    assert cell.turn is turn


def compare(base, head):
    return compare_with_base(base, head, levels=tuple(Level), scoring=Scoring.STRICT)


def test_a_board_against_itself_has_no_change(board):
    found = compare(board, board)
    assert [one.b for one in found] == ["claude-code-sonnet-4-5", "codex-gpt-5-1-codex", "uv"]
    assert not has_changes(found)
    assert {change.turn for change in list_changes(found)} == {Turn.UNCHANGED}
    assert [list_worse(one) for one in found] == [(), (), ()]


def test_what_the_run_did_not_plan_is_not_looked_at(board):
    """The base has 6 repositories and a missing trial; the run planned one repository."""
    rows = tuple(row for row in board.trials if row.repository == "NVIDIA/kvpress")
    head = replace(board, trials=rows, missing={}, invalid={})
    for one in compare(board, head):
        assert {pair.repository for level in one.levels for pair in level.pairs} == {
            "NVIDIA/kvpress"
        }
        assert (one.unseen, {level.unpaired for level in one.levels}) == ((), {0})


def test_a_missing_trial_of_the_run_is_unseen(board):
    assert {one.b: one.unseen for one in compare(board, board)} == {
        "claude-code-sonnet-4-5": (scoreboards.INVALID,),
        "codex-gpt-5-1-codex": (scoreboards.MISSING,),
        "uv": (),
    }


def test_a_contestant_that_the_base_lacks_is_not_compared(board):
    base = replace(board, trials=tuple(row for row in board.trials if row.agent != "codex"))
    base = replace(base, missing={})
    assert [one.b for one in compare(base, board)] == ["claude-code-sonnet-4-5", "uv"]


def test_a_level_that_broke_everywhere_is_worse():
    row = scoreboards.board().trials[0]
    sides = [
        replace(
            scoreboards.board(),
            trials=tuple(
                replace(
                    row,
                    trial=f"acme__r{n}.a.1",
                    repository=f"acme/r{n}",
                    cells={Level.C1: replace(row.cells[Level.C1], outcome=outcome)},
                )
                for n in range(8)
            ),
        )
        for outcome in (Outcome.PASSED, Outcome.FAILED)
    ]
    assert [list_worse(one) for one in compare(*sides)] == [(Level.C1,)]
    assert [list_worse(one) for one in compare(*reversed(sides))] == [()]
