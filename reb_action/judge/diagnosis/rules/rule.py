"""A rule: a cause, and the words in a log that betray it."""

import re
from dataclasses import dataclass

from reb_action.model.diagnosis import Cause

# "No module named" as an interpreter says it: after an exception's name or at the line's start.
NO_MODULE = r"(?:^ {0,12}|Error: |: : |python[\d.]{0,6}: )No module named '?"


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """A cause, the words that betray it, and who writes them.

    Every pattern is bounded within a few lines, so that a search is linear in the text.
    """

    cause: Cause
    pattern: re.Pattern[str]
    source: str
    # What the same words mean on a machine that was never meant to have a GPU.
    without_gpu: Cause | None = None
    # What they mean where the level needs several GPUs, which the machine then has.
    of_ranks: Cause | None = None
    # Whether the words count only when the module they name is one that the repository holds.
    only_own: bool = False
    # Whether the words count inside a warning, once it is known that the run failed.
    in_warnings: bool = False


def rule(
    cause: Cause,
    source: str,
    *words: str,
    without_gpu: Cause | None = None,
    of_ranks: Cause | None = None,
    only_own: bool = False,
    in_warnings: bool = False,
) -> Rule:
    """Return the rule whose pattern is any of the given regular expressions."""
    return Rule(
        cause=cause,
        pattern=re.compile("|".join(words), re.MULTILINE),
        source=source,
        without_gpu=without_gpu,
        of_ranks=of_ranks,
        only_own=only_own,
        in_warnings=in_warnings,
    )
