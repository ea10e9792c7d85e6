"""The plan of a benchmark: its contestants and trials, assigned to the jobs of a matrix."""

from dataclasses import dataclass

from reb_action.model.contestant import MODEL_KEY, Contestant


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedContestant:
    """A contestant of a plan: its agent by name, its model, and the name of the vendor's key."""

    contestant: Contestant
    agent: str
    model: str | None = None
    key: str = MODEL_KEY


@dataclass(frozen=True, kw_only=True, slots=True)
class Wish:
    """One repository with one contestant, before attempts are counted.

    `slug` and `contestant` are their parts of a trial id; `files` are those of the caller's
    repository that describe them. `longest_seconds` is the time that a trial may take at most.
    """

    repository: str
    slug: str
    agent: str
    contestant: str
    argument: str | None = None
    files: tuple[str, ...] = ()
    key: str = MODEL_KEY
    longest_seconds: int = 3600


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedTrial:
    """One trial to be; `repository`, `agent` and `argument` are what `reb start` takes.

    `contestant` is the id of one of the plan's contestants; plans of older releases have none.
    """

    id: str
    repository: str
    agent: str
    argument: str | None
    attempt: int
    contestant: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One job of the matrix: usually one trial; a batch if there are more trials than jobs.

    `seconds` is the earlier duration of its trials, or the longest possible one if there is none.
    All trials of an entry use the vendor's key with the name `key`.
    """

    name: str
    trials: tuple[PlannedTrial, ...]
    seconds: int
    key: str = MODEL_KEY


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """All entries, the longest first, and their contestants."""

    entries: tuple[Entry, ...]
    contestants: tuple[PlannedContestant, ...] = ()

    @property
    def trials(self) -> tuple[PlannedTrial, ...]:
        """Every trial, in the order of the entries."""
        return tuple(trial for entry in self.entries for trial in entry.trials)


@dataclass(frozen=True, kw_only=True, slots=True)
class EarlyStop:
    """Why a job left out trials of its plan: they could not change the answer of `fail-on`.

    `answer` is that answer in a sentence. `ran` trials have a verdict in this job. `seconds` of
    agents and `cost_usd` are what `skipped` would have taken at the mean of those that ran; None
    where that is unknown.
    """

    answer: str
    skipped: tuple[str, ...]
    ran: int
    seconds: float | None = None
    cost_usd: float | None = None
