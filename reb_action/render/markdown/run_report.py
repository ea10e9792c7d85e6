"""A run of the benchmark with its results, for the comment and the check runs."""

from collections.abc import Mapping
from dataclasses import dataclass

from reb_action.judge.gate import FailOn
from reb_action.model.github import RunOrder
from reb_action.model.manifest import Level
from reb_action.model.scoreboard import Scoreboard
from reb_action.score.changes import LevelChange


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """The changes since the base, level by level; `commit` is that of the base's scoreboard."""

    commit: str
    levels: tuple[LevelChange, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class RunReport:
    """A scoreboard and its run; `key` tells the benchmarks of one repository apart.

    `unverified`: the run used a workflow of a fork, which may have changed the results. `files`
    maps a trial to the file of the repository that describes it, if there is one.
    """

    key: str
    board: Scoreboard
    levels: tuple[Level, ...]
    fail_on: FailOn
    commit: str
    run: RunOrder
    run_url: str
    unverified: bool = False
    comparison: Comparison | None = None
    files: Mapping[str, str]

    @property
    def planned(self) -> int:
        """How many trials were planned."""
        return len(self.board.trials) + len(self.board.missing)
