"""Build a scoreboard from verdicts: shares of each agent in both scorings, and missing trials."""

from reb_action.score.board import score

__all__ = ["score"]
