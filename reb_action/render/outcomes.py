"""How an outcome is marked, the same in every text: its word, and the dagger after it."""

from typing import Final

from reb_action.model.manifest import Outcome

MARKS: Final = {
    Outcome.PASSED: "passed",
    Outcome.FAILED: "FAILED",
    Outcome.BLOCKED: "BLOCKED",
    Outcome.NOT_APPLICABLE: "n/a",
    Outcome.INVALID: "INVALID",
}
"""Words, not colours: they read the same in a log and in a screen reader."""

DOUBT: Final = "\N{DAGGER}"
"""Follows the outcome of a level that is not qualified."""

MEANS: Final = "not qualified: never yet seen to pass where it must and fail elsewhere."
DOUBTED: Final = f"{DOUBT} {MEANS}"


def doubt(outcome: Outcome, *, qualified: bool) -> str:
    """Return what follows an outcome: a mark where it was observed and is not qualified."""
    return "" if qualified or outcome is Outcome.NOT_APPLICABLE else DOUBT
