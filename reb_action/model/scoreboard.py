"""The scoreboard of trials: shares of agents, rows of trials, published results."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from reb_action.model.agent import Ending, Usage, UsageEstimate
from reb_action.model.contestant import Contestant, default_id
from reb_action.model.manifest import Level, Outcome
from reb_action.model.verdict import ClaimKind, Scoring


def _contestant_id(contestant: Contestant | None, agent: str, model: str | None) -> str:
    return default_id(agent, model) if contestant is None else contestant.id


@dataclass(frozen=True, kw_only=True, slots=True)
class Share:
    """How many of the counted trials passed a level.

    `unseen` are planned trials that count and have no outcome: missing, or invalid. `interval` is
    Wilson's at 95 % of passed among counted, each bound from 0 to 1; None where nothing counts.
    """

    passed: int
    counted: int
    unseen: int = 0
    interval: tuple[float, float] | None = None

    @property
    def lowest(self) -> float | None:
        """The share with everything unseen counted as failed, from 0 to 1."""
        planned = self.counted + self.unseen
        return self.passed / planned if planned else None

    @property
    def share(self) -> float | None:
        """The share with everything unseen left out, from 0 to 1."""
        return self.passed / self.counted if self.counted else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Imports:
    """C0 over trials: imports missing of all; smaller is better.

    `most` is the upper end if the number is known as a range only: a published number, or one with
    unseen trials, which may miss all imports. `unknown` counts trials with an unknown number of
    imports; no other number includes them.
    """

    missing: int
    total: int
    most: int | None = None
    unknown: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Known:
    """A sum over the trials that know the number; `trials` is how many do.

    `most` is an upper bound of the sum, where calls without a count leave it open.
    """

    total: float = 0.0
    trials: int = 0
    most: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Spent:
    """What an agent's trials used: tokens, US dollars, seconds of the agent phase, disk bytes."""

    input_tokens: Known = field(default_factory=Known)
    output_tokens: Known = field(default_factory=Known)
    cost_usd: Known = field(default_factory=Known)
    seconds: Known = field(default_factory=Known)
    prefix_bytes: Known = field(default_factory=Known)


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentScore:
    """One contestant over its trials: `planned`, of which `judged` have a verdict."""

    agent: str
    model: str | None
    versions: tuple[str, ...]
    planned: int
    judged: int
    levels: Mapping[Scoring, Mapping[Level, Share]]
    imports: Mapping[Scoring, Imports]
    hallucinations: Mapping[ClaimKind, int]
    endings: Mapping[Ending, int]
    spent: Spent
    contestant: Contestant | None = None

    @property
    def name(self) -> str:
        """The id of the contestant; no two scores of a board share it."""
        return _contestant_id(self.contestant, self.agent, self.model)

    @property
    def has_default_name(self) -> bool:
        """Whether the agent and the model say all that the name says."""
        return self.name == default_id(self.agent, self.model)


@dataclass(frozen=True, kw_only=True, slots=True)
class Cell:
    """One level of one trial; `cause` is the diagnosis in a word, `qualified` is the probe's.

    `line` is the line of the log that proves the cause, or "".
    """

    outcome: Outcome
    paper: Outcome
    reason: str
    cause: str | None
    qualified: bool
    line: str = ""

    def by(self, scoring: Scoring) -> Outcome:
        """Return the outcome by one of the scorings."""
        return self.outcome if scoring is Scoring.STRICT else self.paper


@dataclass(frozen=True, kw_only=True, slots=True)
class TrialRow:
    """One trial with a verdict; `cells` and `imports` lack levels that were not requested."""

    trial: str
    repository: str
    agent: str
    model: str | None
    attempt: int
    cells: Mapping[Level, Cell]
    imports: Mapping[Scoring, Imports | None]
    hallucinations: Mapping[ClaimKind, int]
    ending: Ending | None
    seconds: float | None
    usage: Usage | None
    prefix_bytes: int | None
    estimate: UsageEstimate | None = None
    contestant: Contestant | None = None

    @property
    def name(self) -> str:
        """The id of the contestant."""
        return _contestant_id(self.contestant, self.agent, self.model)

    @property
    def has_default_name(self) -> bool:
        """Whether the agent and the model say all that the name says."""
        return self.name == default_id(self.agent, self.model)

    def usage_bounds(self, name: str) -> tuple[float, float] | None:
        """Return the least and the most of a number of the usage; None where it is unknown."""
        counted: float | None = getattr(self.usage or Usage(), name)
        if self.estimate is None:
            return None if counted is None else (counted, counted)
        low: float | None = getattr(self.estimate, f"{name}_min")
        high: float | None = getattr(self.estimate, f"{name}_max")
        if low is None or high is None:
            return None
        return (counted or 0) + low, (counted or 0) + high


@dataclass(frozen=True, kw_only=True, slots=True)
class PublishedCounts:
    """The counts of a paper for one agent; C0 may be known as a range only; None is unknown."""

    agent: str
    model: str
    missing: int
    most: int | None
    passed: Mapping[Level, int]
    hallucinations: int
    capability: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Publication:
    """A paper's results as our data file holds them; `counted` are its denominators."""

    source: str
    runs: int
    imports: int
    counted: Mapping[Level, int]
    agents: tuple[PublishedCounts, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Published:
    """One published row of the paper: by its own scoring, with one run for each repository."""

    agent: str
    model: str
    source: str
    runs: int
    levels: Mapping[Level, Share]
    imports: Imports
    hallucinations: int
    capability: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Scoreboard:
    """All trials of a plan or of a folder; incomplete if a trial is missing or invalid.

    `missing` maps a planned trial to the reason why it has no verdict, `invalid` to the fault.
    """

    reb: str
    agents: tuple[AgentScore, ...]
    trials: tuple[TrialRow, ...]
    missing: Mapping[str, str]
    invalid: Mapping[str, str]
    published: tuple[Published, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every planned trial has a verdict with nothing invalid in it."""
        return not self.missing and not self.invalid

    @property
    def run_again(self) -> tuple[str, ...]:
        """The trials to run again, each once."""
        return tuple(dict.fromkeys((*self.missing, *self.invalid)))
