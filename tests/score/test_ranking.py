"""Ranks: by the share of levels that passed, with unseen ones as failed; ties share a rank."""

from dataclasses import replace

from reb_action.model.manifest import Level
from reb_action.model.scoreboard import Share
from reb_action.model.verdict import Scoring
from reb_action.score.ranking import rank_contestants
from tests.support.scoreboards import board


def scored(agent, **levels):
    made = {Level(name): share for name, share in levels.items()}
    return replace(
        board().agents[0], agent=agent, contestant=None, model=None,
        levels={Scoring.STRICT: made, Scoring.PAPER: {}},
    )  # fmt: skip


def ranks(*scores):
    return [(ranked.score.agent, ranked.rank) for ranked in rank_contestants(scores)]


def test_unseen_levels_count_as_failed():
    sure, unseen = Share(passed=6, counted=10), Share(passed=5, counted=5, unseen=5)
    assert ranks(scored("half", C0=unseen), scored("more", C0=sure)) == [("more", 1), ("half", 2)]


def test_equal_shares_have_the_same_rank_and_the_next_is_skipped():
    one, two = Share(passed=1, counted=2), Share(passed=2, counted=4)
    scores = (scored("c"), scored("b", C0=two), scored("a", C0=one))
    assert ranks(*scores) == [("a", 1), ("b", 1), ("c", 3)]


def test_all_levels_weigh_by_their_trials():
    (ranked,) = rank_contestants(
        [scored("a", C0=Share(passed=3, counted=4), C4=Share(passed=0, counted=1, unseen=1))]
    )
    assert ranked.passed == Share(passed=3, counted=5, unseen=1)
