"""Puts verdicts together: what each agent comes to, in both scorings, and what is missing."""

from reb_action.score.board import score

__all__ = ["score"]
