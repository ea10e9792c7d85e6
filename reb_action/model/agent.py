"""What an agent did and used, and the state of its sandbox at the freeze."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from reb_action.model.fault import FaultCause, Trouble
from reb_action.model.limits import LimitHits, Limits
from reb_action.model.report import ReportFault


class Dialect(StrEnum):
    """The protocol in which an agent speaks to its model."""

    ANTHROPIC = "anthropic-messages"
    RESPONSES = "openai-responses"
    CHAT = "openai-chat"
    GEMINI = "gemini"


class Ending(StrEnum):
    """How an agent ended; `judge/faults.py` says which endings count as the agent's result."""

    DONE = "done"
    GAVE_UP = "gave_up"
    TIMED_OUT = "timed_out"
    IDLE = "idle"
    LIMIT = "limit"
    MODEL_ERROR = "model_error"
    CRASHED = "crashed"
    SETUP_FAILED = "setup_failed"


class Protocol(StrEnum):
    """The task, the user and the rules of the agent phase: the standard ones or the paper's."""

    STANDARD = "standard"
    PAPER = "paper"

    @property
    def starts(self) -> int:
        """How often the agent is started at most, each time with its full clock."""
        return 2 if self is Protocol.PAPER else 1


class Key(StrEnum):
    """Who held the model's key: the gateway, or the agent itself (`direct-key`)."""

    GATEWAY = "gateway"
    DIRECT = "direct"


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """What an agent used; input includes cache, output includes reasoning; unknown is None."""

    input_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    output_tokens: int | None = None
    turns: int | None = None
    tool_calls: int | None = None
    cost_usd: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class UsageEstimate:
    """Lower and upper bounds for the calls whose usage the model did not report."""

    calls: int
    input_tokens_min: int
    input_tokens_max: int
    output_tokens_min: int
    output_tokens_max: int
    cost_usd_min: float | None = None
    cost_usd_max: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class VendorRecord:
    """What the vendor did in addition to its answers, as the gateway saw it.

    `models` counts answers by the model that gave them. `removed` counts the requests from which a
    tool or content that the vendor would have run or fetched was removed, `offered` those that were
    forwarded with it. `retried` counts by HTTP status the calls that the gateway repeated, after
    `waited_seconds` in total. `failures` counts failed calls, repeated ones included, by cause.
    """

    models: Mapping[str, int] = field(default_factory=dict[str, int])
    removed: Mapping[str, int] = field(default_factory=dict[str, int])
    offered: Mapping[str, int] = field(default_factory=dict[str, int])
    searches: int = 0
    retried: Mapping[str, int] = field(default_factory=dict[str, int])
    waited_seconds: float = 0.0
    failures: Mapping[FaultCause, int] = field(default_factory=dict[FaultCause, int])


@dataclass(frozen=True, kw_only=True, slots=True)
class Tally:
    """Counts of the gateway. `usage` is the sum of the calls that reported it.

    `estimate` covers the other calls. `refused` counts errors by HTTP status; 200 is an error
    within an answer. `trouble` is None if the last call got a complete answer.
    """

    usage: Usage = field(default_factory=Usage)
    estimate: UsageEstimate | None = None
    calls: int = 0
    refused: Mapping[str, int] = field(default_factory=dict[str, int])
    limit: str | None = None
    last_error: str | None = None
    trouble: Trouble | None = None
    vendor: VendorRecord = field(default_factory=VendorRecord)


@dataclass(frozen=True, kw_only=True, slots=True)
class Account:
    """An agent's run according to the agent's own events; None is unknown."""

    ending: Ending | None = None
    detail: str | None = None
    usage: Usage | None = None
    version: str | None = None


class Resume(StrEnum):
    """What `reb agent` does with an agent that was interrupted."""

    CONTINUE = "continue"
    MEASURE = "measure"
    RESTART = "restart"


@dataclass(frozen=True, kw_only=True, slots=True)
class Interruption:
    """A kill of the runner while the agent worked: when it happened and how the trial went on.

    `usage` is the gateway's count until then. Seconds and usage of a part are within those of the
    run, unless it was restarted: then they are lost.
    """

    seconds: float
    resumed: Resume
    usage: Usage | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentRun:
    """How the agent ended and what it used. The exit code is evidence, never the verdict.

    `usage` is the gateway's count (the agent's own without a gateway), `estimate` bounds the calls
    that this count lacks, `reported` is the agent's own count. `cause` is what ended the run, if
    the gateway, the engine or the sandbox knows it; `hits` are the limits that it hit. `invalid` is
    why the run does not count although the agent finished, such as another model than the requested
    one. `protocol` is None in trials older than protocols. `root`: the agent was root in its
    container. `attempts`: number of starts. Time and usage are the sums over `interruptions`.
    """

    agent: str
    version: str
    ending: Ending
    exit_code: int | None
    seconds: float
    setup_seconds: float
    model: str | None = None
    prompt_sha256: str | None = None
    usage: Usage | None = None
    estimate: UsageEstimate | None = None
    reported: Usage | None = None
    vendor: VendorRecord | None = None
    invalid: str | None = None
    key: Key | None = None
    network: str | None = None
    detail: str | None = None
    protocol: Protocol | None = None
    root: bool = False
    attempts: int = 1
    cause: FaultCause | None = None
    hits: LimitHits | None = None
    limits: Limits | None = None
    interruptions: tuple[Interruption, ...] = ()


class Change(StrEnum):
    """What became of a tracked file."""

    MODIFIED = "modified"
    DELETED = "deleted"
    SHADOWED = "shadowed"
    PUT_BACK = "put_back"


@dataclass(frozen=True, kw_only=True, slots=True)
class Touched:
    """A tracked file that is not as at the commit; it was restored for the probes."""

    path: str
    change: Change


@dataclass(frozen=True, kw_only=True, slots=True)
class Freeze:
    """The state of the sandbox at the freeze.

    `copies` are edited files outside the checkout that are imported instead of tracked modules.
    `shadowing` are untracked modules in the checkout that are imported instead of installed or
    standard ones. `known_hooks` are start-up hooks of known packages, by the hashes of their files.
    """

    report: ReportFault | None
    report_sha256: str | None
    touched: tuple[Touched, ...]
    survivors: tuple[str, ...]
    native: tuple[str, ...]
    copies: tuple[str, ...] = ()
    shadowing: tuple[str, ...] = ()
    known_hooks: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedAgent:
    """One agent; `program` is its pinned package, `missing` what a trial needs and lacks here."""

    name: str
    title: str
    program: str | None
    version: str | None
    dialect: Dialect | None
    needs: tuple[str, ...]
    installed: bool
    missing: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentList:
    """All agents, for one kind of sandbox."""

    sandbox: str
    agents: tuple[ListedAgent, ...]
