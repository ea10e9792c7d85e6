"""What `reb publish` writes, and when."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from reb_action.errors import UsageError


class CommentMode(StrEnum):
    """When a pull request gets a comment. An existing comment is always updated."""

    OFF = "off"
    ALWAYS = "always"
    CHANGES = "changes"
    FAILURES = "failures"


class ChecksMode(StrEnum):
    """What gets a check run: each level over all trials, or each trial."""

    OFF = "off"
    LEVELS = "levels"
    TRIALS = "trials"


class FaultMode(StrEnum):
    """Whether a failed write fails the command."""

    WARN = "warn"
    FAIL = "fail"


KEY: Final = "researchenvbench"
"""The default key, for a repository with one benchmark."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PublishOptions:
    """What to write; `key` (`[a-z0-9-]{1,40}`) distinguishes the benchmarks of a repository.

    `base` is what the run is compared with, "" for the leaderboard: see `publish.base`.
    """

    key: str
    comment: CommentMode
    checks: ChecksMode
    leaderboard: bool
    base: str = ""

    @property
    def branch(self) -> str:
        """The branch that holds the leaderboard and nothing else."""
        return "reb-leaderboard" if self.key == KEY else f"reb-leaderboard-{self.key}"


def make_publish_options(
    comment: str, checks: str, leaderboard: bool, key: str, base: str
) -> PublishOptions:
    """Return the options of the command line; raises UsageError for an invalid key."""
    if re.fullmatch(r"[a-z0-9][a-z0-9-]{0,39}", key) is None:
        raise UsageError(f"--key is {key[:60]!r}; use at most 40 of a-z, 0-9 and -")
    return PublishOptions(
        key=key,
        comment=CommentMode(comment),
        checks=ChecksMode(checks),
        leaderboard=leaderboard,
        base=base,
    )
