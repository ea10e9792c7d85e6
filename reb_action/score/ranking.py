"""Rank contestants by the levels that their trials passed."""

from collections.abc import Iterable
from dataclasses import dataclass

from reb_action.model.scoreboard import AgentScore, Share
from reb_action.model.verdict import Scoring


@dataclass(frozen=True, kw_only=True, slots=True)
class Ranked:
    """A contestant with its rank, from 1; equal shares have the same rank.

    `passed` counts the levels of all trials that passed, of those that count. It has no interval,
    because the levels of a trial are not independent.
    """

    rank: int
    score: AgentScore
    passed: Share


def rank_contestants(
    scores: Iterable[AgentScore], scoring: Scoring = Scoring.STRICT
) -> tuple[Ranked, ...]:
    """Return the contestants from the best down; a level without a result counts as failed."""
    totals = [(score, _sum_levels(score, scoring)) for score in scores]
    totals.sort(key=lambda pair: (-_order(pair[1]), pair[0].name))
    shares = [_order(total) for _, total in totals]
    return tuple(
        Ranked(rank=shares.index(_order(total)) + 1, score=score, passed=total)
        for score, total in totals
    )


def _sum_levels(score: AgentScore, scoring: Scoring) -> Share:
    levels = score.levels.get(scoring, {}).values()
    return Share(
        passed=sum(share.passed for share in levels),
        counted=sum(share.counted for share in levels),
        unseen=sum(share.unseen for share in levels),
    )


def _order(total: Share) -> float:
    return -1.0 if total.lowest is None else total.lowest
