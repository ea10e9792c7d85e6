"""The word and the mark of an outcome, the same on every text channel."""

from typing import Final

from reb_action.model.manifest import Outcome

WORDS: Final = {
    Outcome.PASSED: "passed",
    Outcome.FAILED: "FAILED",
    Outcome.BLOCKED: "BLOCKED",
    Outcome.NOT_APPLICABLE: "n/a",
    Outcome.INVALID: "INVALID",
}
"""Words, not colours: they read the same in a log and in a screen reader."""

UNQUALIFIED: Final = "\N{DAGGER}"
"""Follows the outcome of a level that is not qualified."""

UNQUALIFIED_MEANING: Final = (
    "not qualified: controls have not yet shown that this level passes and fails as it should."
)
UNQUALIFIED_NOTE: Final = f"{UNQUALIFIED} {UNQUALIFIED_MEANING}"


def mark_outcome(outcome: Outcome, *, qualified: bool) -> str:
    """Return the mark after an outcome; a level that does not apply has none."""
    return "" if qualified or outcome is Outcome.NOT_APPLICABLE else UNQUALIFIED
