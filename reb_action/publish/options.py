"""What a caller wants published."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class CommentMode(StrEnum):
    """When a pull request gets a comment; one that is there is always brought up to date."""

    OFF = "off"
    ALWAYS = "always"
    CHANGES = "changes"
    FAILURES = "failures"


class ChecksMode(StrEnum):
    """What gets a check run: each level over the matrix, or each trial."""

    OFF = "off"
    LEVELS = "levels"
    TRIALS = "trials"


class FaultMode(StrEnum):
    """What a write that fails does to the command."""

    WARN = "warn"
    FAIL = "fail"


KEY: Final = "researchenvbench"
"""The key where a repository has one benchmark."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """What is to be written; `key` (`[a-z0-9-]{1,40}`) tells benchmarks of a repository apart."""

    key: str
    comment: CommentMode
    checks: ChecksMode
    leaderboard: bool

    @property
    def branch(self) -> str:
        """The branch of the leaderboard; it holds nothing else."""
        return "reb-leaderboard" if self.key == KEY else f"reb-leaderboard-{self.key}"
