"""What differs between two scoreboards: counted per agent and repository, over all attempts."""

from dataclasses import replace

import pytest

from reb_action.model.manifest import Level, Outcome
from reb_action.model.verdict import Scoring
from reb_action.score.changes import Change, Count, Pair, Turn, compare, has_changes
from reb_action.score.statistics import sign_test
from tests.support import scoreboards

PAIR = Pair(repository="hustvl/Vim", contestant="codex-gpt-5-1-codex")


def turned(board, level, outcomes, *, repository="hustvl/Vim", agent="codex"):
    """Return the board with other strict outcomes of one pair, attempt by attempt."""
    left = list(outcomes)

    def row(one):
        if (one.repository, one.agent) != (repository, agent):
            return one
        cell = replace(one.cells[level], outcome=left.pop(0))
        return replace(one, cells={**one.cells, level: cell})

    return replace(board, trials=tuple(row(one) for one in board.trials))


@pytest.fixture(scope="module")
def board():
    """Two attempts of each pair, all there."""
    found = scoreboards.found()
    found[scoreboards.MISSING] = found["hustvl__Vim.codex.1"]
    whole = scoreboards.score(found)
    second = next(one for one in whole.trials if one.trial == "hustvl__Vim.codex.1")
    rows = [one for one in whole.trials if one.trial != "hustvl__Vim.codex.1"]
    return replace(whole, trials=(*rows, second, replace(second, trial="x", attempt=2)))


P, F, B, N, X = (
    Outcome.PASSED,
    Outcome.FAILED,
    Outcome.BLOCKED,
    Outcome.NOT_APPLICABLE,
    Outcome.INVALID,
)
TURNS = [
    # before, now: the turn
    ((F, F), (P, P), Turn.FIXED),
    ((F, F), (P, F), Turn.FIXED),
    ((P, F), (F, P), Turn.UNCHANGED),
    ((P, P), (P, B), Turn.BROKEN),
    ((P, P), (P, X), Turn.UNCHANGED),
    ((P, F), (P, X), Turn.FIXED),
    ((X, X), (P, F), Turn.NEW),
    ((N, N), (F, F), Turn.NEW),
    ((B, F), (X, X), Turn.GONE),
]


@pytest.mark.parametrize(("before", "now", "turn"), TURNS)
def test_turn_of_a_pair(board, before, now, turn):
    base, head = turned(board, Level.C1, before), turned(board, Level.C1, now)
    (change,) = compare(base, head, levels=(Level.C1,), scoring=Scoring.STRICT)
    assert [one.pair for one in change.of(turn)].count(PAIR) == 1
    assert has_changes((change,)) is (turn in (Turn.FIXED, Turn.BROKEN))


def test_pair_that_counts_on_neither_side_is_not_there(board):
    same = turned(board, Level.C1, (N, X))
    (change,) = compare(same, same, levels=(Level.C1,), scoring=Scoring.STRICT)
    assert PAIR not in [one.pair for of in change.turns.values() for one in of]


def test_change_tells_its_counts(board):
    base, head = turned(board, Level.C1, (P, F)), turned(board, Level.C1, (P, P))
    (change,) = compare(base, head, levels=(Level.C1,), scoring=Scoring.STRICT)
    before, now = Count(passed=1, counted=2), Count(passed=2, counted=2)
    assert change.of(Turn.FIXED) == (Change(pair=PAIR, before=before, now=now),)


def test_scoring_decides_what_differs(board):
    head = turned(board, Level.C1, (F, F))
    base = turned(board, Level.C1, (P, P))
    paper = compare(base, head, levels=tuple(Level), scoring=Scoring.PAPER)
    assert not has_changes(paper)
    assert has_changes(compare(base, head, levels=tuple(Level), scoring=Scoring.STRICT))


def test_pairs_of_the_base_that_were_not_planned_now_are_left_out(board):
    head = replace(board, trials=board.trials[:1])
    (change,) = compare(board, head, levels=(Level.C1,), scoring=Scoring.STRICT)
    found = [one.pair.repository for of in change.turns.values() for one in of]
    assert found == [board.trials[0].repository]


def test_planned_trial_that_is_missing_is_gone(board):
    rows = tuple(one for one in board.trials if one.repository != "hustvl/Vim")
    head = replace(board, trials=rows, missing={"hustvl__Vim.codex.1": "lost"})
    base = turned(board, Level.C1, (P, F))
    (change,) = compare(base, head, levels=(Level.C1,), scoring=Scoring.STRICT)
    assert [one.pair for one in change.of(Turn.GONE)] == [PAIR]


SIGNS = [(0, 0, None), (1, 0, 1.0), (5, 0, 0.0625), (0, 6, 0.03125), (3, 3, 1.0), (9, 1, 22 / 1024)]


@pytest.mark.parametrize(("fixed", "broken", "chance"), SIGNS)
def test_sign_test(fixed, broken, chance):
    assert sign_test(fixed, broken) == sign_test(broken, fixed) == chance


def test_chance_is_of_the_pairs_that_differ(board):
    base, head = turned(board, Level.C1, (F, F)), turned(board, Level.C1, (P, P))
    (change,) = compare(base, head, levels=(Level.C1,), scoring=Scoring.STRICT)
    assert change.chance == 1.0
