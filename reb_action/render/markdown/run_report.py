"""What one run of a benchmark has to say, wherever it is said."""

from collections.abc import Mapping
from dataclasses import dataclass

from reb_action.changes import LevelChange
from reb_action.gate import FailOn
from reb_action.model.manifest import Level
from reb_action.model.publication import RunOrder
from reb_action.model.scoreboard import Scoreboard


@dataclass(frozen=True, kw_only=True, slots=True)
class Compared:
    """The base: the commit whose scoreboard it is, and what has changed since, level by level."""

    commit: str
    levels: tuple[LevelChange, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Edition:
    """A scoreboard with what it is of; `key` tells benchmarks of one repository apart.

    `unverified`: the workflow that made it came from a fork, so it could say anything. `files`
    maps a trial to the file of the repository that describes it, where one does.
    """

    key: str
    board: Scoreboard
    levels: tuple[Level, ...]
    fail_on: FailOn
    commit: str
    run: RunOrder
    run_url: str
    unverified: bool = False
    compared: Compared | None = None
    files: Mapping[str, str]

    @property
    def planned(self) -> int:
        """How many trials were planned."""
        return len(self.board.trials) + len(self.board.missing)
