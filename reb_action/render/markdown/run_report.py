"""A run of the benchmark with its results, for the comment and the check runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from reb_action.judge.gate import FailOn
from reb_action.model.comparison import ContestantComparison
from reb_action.model.github import RunOrder
from reb_action.model.manifest import Level
from reb_action.model.plan import EarlyStop
from reb_action.model.scoreboard import Scoreboard


@dataclass(frozen=True, kw_only=True, slots=True)
class BaseComparison:
    """Each contestant that the base has, against itself there.

    `commit` is that of the base's newest run, `url` leads to the base. `contestants` is empty and
    `why` says why where there is nothing to compare with. `unsettled` is why a run that ended early
    has no answer against this base, "" if it has one.
    """

    commit: str = ""
    url: str = ""
    contestants: tuple[ContestantComparison, ...] = ()
    why: str = ""
    unsettled: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class RunReport:
    """A scoreboard and its run; `key` tells the benchmarks of one repository apart.

    `unverified`: the run used a workflow of a fork, which may have changed the results. `files`
    maps a trial to the file of the repository that describes it, if there is one; `evidence` maps
    a trial to the URL of its artifact, where that is known. `stop` is why the run ended early,
    None if it did not. `own_repository`: the run has one repository only, and its manifest says
    `commit: self`.
    """

    key: str
    board: Scoreboard
    levels: tuple[Level, ...]
    fail_on: FailOn
    commit: str
    run: RunOrder
    run_url: str
    unverified: bool = False
    base: BaseComparison = field(default_factory=BaseComparison)
    files: Mapping[str, str]
    evidence: Mapping[str, str] = field(default_factory=dict[str, str])
    stop: EarlyStop | None = None
    own_repository: bool = False

    @property
    def planned(self) -> int:
        """How many trials were planned."""
        return len(self.board.trials) + len(self.board.missing)

    def find_evidence(self, trial: str) -> str:
        """Return the URL of a trial's artifact, else that of the run."""
        return self.evidence.get(trial, f"{self.run_url}#artifacts")
