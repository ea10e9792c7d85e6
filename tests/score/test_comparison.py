"""Every pair of a board in short says what the comparison of the two says in full."""

from dataclasses import replace

import pytest

from reb_action.model.comparison import Finding
from reb_action.model.manifest import Level
from reb_action.model.verdict import Scoring
from reb_action.score.comparison import compare_all, compare_contestants
from reb_action.score.records import make_generations
from tests.support import big_board
from tests.support.scoreboards import board

LEVELS = tuple(Level)


@pytest.mark.parametrize(
    "made", [board(), make_generations(big_board.records(2, 20, 6))[0].board], ids=["small", "big"]
)
def test_pairs_in_short_are_those_in_full(made):
    pairs = compare_all(made, levels=LEVELS, scoring=Scoring.STRICT)
    count = len(made.agents)
    assert len(pairs) == count * (count - 1) / 2
    for pair in pairs:
        full = compare_contestants(
            made, made, names=(pair.a, pair.b), levels=LEVELS, scoring=Scoring.STRICT
        )
        assert pair.finding is full.finding
        assert pair.p == {one.level: one.adjusted for one in full.levels}
        assert pair.differences == pytest.approx(
            {one.level: one.difference for one in full.levels}, abs=1e-12
        )


def test_whole_pair_without_a_difference_is_not_incomplete():
    whole = replace(board(), missing={}, invalid={})
    findings = {pair.finding for pair in compare_all(whole, levels=LEVELS, scoring=Scoring.STRICT)}
    assert findings == {Finding.NO_DIFFERENCE}
