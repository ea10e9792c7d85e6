"""What a benchmark intends: its trials, dealt out to the jobs of a matrix."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Wish:
    """One repository with one contestant, before attempts are counted.

    `slug` and `contestant` are their parts of a trial id; `files` are those of the caller's
    repository that describe them.
    """

    repository: str
    slug: str
    agent: str
    contestant: str
    argument: str | None = None
    files: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedTrial:
    """One trial to be; `repository`, `agent` and `argument` are what `reb start` takes."""

    id: str
    repository: str
    agent: str
    argument: str | None
    attempt: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One job of the matrix: mostly one trial; a batch where there are more trials than jobs.

    `seconds` is how long its trials took before, or may take where that is not known.
    """

    name: str
    trials: tuple[PlannedTrial, ...]
    seconds: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """All entries, the longest first."""

    entries: tuple[Entry, ...]

    @property
    def trials(self) -> tuple[PlannedTrial, ...]:
        """Every trial, in the order of the entries."""
        return tuple(trial for entry in self.entries for trial in entry.trials)
