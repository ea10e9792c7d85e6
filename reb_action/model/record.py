"""The records of a leaderboard: one for each trial of each run, and the runs in order."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from reb_action.model.github import RunOrder
from reb_action.model.manifest import Level
from reb_action.model.scoreboard import TrialRow
from reb_action.model.verdict import Scoring

SCORING_VERSION: Final = 1
"""Version of the rules that turn evidence into outcomes.

Raise it when the same evidence can get another outcome: results of two versions are never mixed.
"""
UNKNOWN_SCORING: Final = 0
"""The version of records that were made from a board of before there were records."""


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Edition:
    """The edition of a repository: its trials are compared only if all three values are equal.

    `commit` is the repository's commit in its manifest, `manifest` the SHA-256 of the parts of the
    manifest that decide an outcome. Both are "" if unknown.
    """

    scoring: int
    commit: str = ""
    manifest: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordedRun:
    """The run that measured a trial.

    `commit` is the commit of the benchmark's repository, `published` when the run was written to
    the board first (ISO 8601, UTC).
    """

    order: RunOrder
    commit: str
    url: str
    published: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Hardware:
    """The machine of a trial: its GPUs by name, their driver, and the memory of the sandbox."""

    sandbox: str | None = None
    gpus: tuple[str, ...] = ()
    driver: str | None = None
    memory_mib: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Record:
    """One trial of one run: (repository, contestant, attempt), its result and how it was measured.

    `complete`: everything requested was measured. A trial without a verdict has no `row`, and
    `absent` is the reason. `image` is the sandbox's image by the name that the user gave.
    `inapplicable` and `imports` are facts about the repository.
    """

    trial: str
    repository: str
    contestant: str
    attempt: int
    edition: Edition
    run: RecordedRun
    reb: str
    complete: bool
    row: TrialRow | None = None
    absent: str | None = None
    version: str | None = None
    domain: str = ""
    hardware: Hardware = field(default_factory=Hardware)
    image: str | None = None
    inapplicable: Mapping[Scoring, tuple[Level, ...]] = field(
        default_factory=dict[Scoring, tuple[Level, ...]]
    )
    imports: Mapping[Scoring, int] = field(default_factory=dict[Scoring, int])

    @property
    def digest(self) -> str:
        """The digest of the contestant's definition, "" if unknown."""
        contestant = None if self.row is None else self.row.contestant
        return "" if contestant is None else contestant.digest


@dataclass(frozen=True, kw_only=True, slots=True)
class Passed:
    """Trials of one run that passed a level, of those that count."""

    passed: int
    counted: int


@dataclass(frozen=True, kw_only=True, slots=True)
class HistoryEntry:
    """One publication: its run, how many records it added, and what its contestants passed.

    `counts` are by the strict scoring, by contestant and level. `superseded` of the added records
    do not count, because the board has a better one of the same trial.
    """

    run: RecordedRun
    added: int
    superseded: int
    incomplete: int
    counts: Mapping[str, Mapping[Level, Passed]]


@dataclass(frozen=True, kw_only=True, slots=True)
class History:
    """The publications of a board, in the order in which they were written."""

    entries: tuple[HistoryEntry, ...]
