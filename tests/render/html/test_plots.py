"""The pictures of the leaderboard: places, axes and what has no place."""

from dataclasses import replace

import pytest

from reb_action.model.cause_groups import PAPER_GROUPS, CauseGroup, group_of
from reb_action.model.diagnosis import Cause
from reb_action.model.scoreboard import Known, Share, Spent
from reb_action.render.html.site.plots import list_drops, plot_cost
from reb_action.score.ranking import Ranked
from tests.support.scoreboards import board


def ranked(rank, share, cost, *, model="m"):
    score = replace(
        board().agents[0], agent=f"agent-{rank}", model=model, contestant=None,
        spent=Spent(cost_usd=Known() if cost is None else Known(total=cost * 4, trials=4)),
    )  # fmt: skip
    return Ranked(rank=rank, score=score, passed=Share(passed=round(share * 100), counted=100))


def test_points_are_at_their_cost_and_share():
    plot = plot_cost([ranked(1, 1.0, 2.0), ranked(2, 0.5, 1.0), ranked(3, 0.0, 0.5)])
    assert [(point.x, point.y) for point in plot.points] == [
        ("388.0", "14.0"), ("216.0", "125.0"), ("130.0", "236.0"),
    ]  # fmt: skip
    assert [tick.text for tick in plot.x_ticks] == ["0", "0.5", "1", "1.5", "2"]
    assert plot.points[1].title == "agent-2 (m): 50 % of levels, 1.00 USD per trial"


def test_line_joins_what_no_cheaper_one_reaches():
    plot = plot_cost([ranked(1, 0.9, 4.0), ranked(2, 0.8, 1.0), ranked(3, 0.7, 2.0)])
    assert len(plot.front.split(" ")) == 2


def test_no_model_costs_nothing_and_an_unknown_cost_has_no_place():
    plot = plot_cost([ranked(1, 0.9, 4.0), ranked(2, 0.8, None), ranked(3, 0.7, None, model=None)])
    assert [(point.rank, point.has_model) for point in plot.points] == [(1, True), (3, False)]
    assert plot.points[1].x == "44.0"
    assert plot.left_out == ("agent-2 (m)",)


@pytest.mark.parametrize("costs", [(), (1.0,), (None, None, 3.0)])
def test_fewer_than_two_points_are_no_picture(costs):
    assert plot_cost([ranked(n, 0.5, cost) for n, cost in enumerate(costs, 1)]) is None


@pytest.mark.parametrize(
    ("most", "ticks"),
    [
        (0.0, ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
        (0.03, ["0", "0.01", "0.02", "0.03", "0.04", "0.05"]),
        (2.2, ["0", "0.5", "1", "1.5", "2", "2.5"]),
        (80.0, ["0", "20", "40", "60", "80", "100"]),
    ],
)
def test_axis_ends_at_a_round_number(most, ticks):
    plot = plot_cost([ranked(1, 0.5, most), ranked(2, 0.4, 0.0)])
    assert [tick.text for tick in plot.x_ticks] == ticks


def test_drop_has_a_bar_for_each_level_with_unseen_ones_as_failed():
    claude = next(score for score in board().agents if score.agent == "claude-code")
    drop = list_drops([Ranked(rank=1, score=claude, passed=Share(passed=1, counted=2))])[0]
    assert drop.words == "C0 58 %, C1 60 %, C2 58 %, C3 33 %, C4 10 %, C5 42 %"
    assert [bar.height for bar in drop.bars] == ["37.3", "38.4", "37.3", "21.3", "6.4", "26.7"]


def test_every_cause_is_in_a_group_and_three_groups_are_the_papers():
    groups = {cause: group_of(cause) for cause in Cause}
    assert CauseGroup.UNKNOWN not in groups.values()
    assert {group_of(None), group_of("of a later release")} == {CauseGroup.UNKNOWN}
    assert {cause for cause, group in groups.items() if group in PAPER_GROUPS} == {
        Cause.NATIVE_EXTENSION_NOT_BUILT, Cause.ABI_MISMATCH, Cause.WRONG_CUDA_BUILD,
        Cause.UNSUPPORTED_COMPUTE_CAPABILITY, Cause.AUXILIARY_TOOLING_MISSING,
        Cause.MIXED_FRAMEWORKS,
    }  # fmt: skip
