"""What an agent did and claims, and what was seen when its sandbox was frozen."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final


class Dialect(StrEnum):
    """The protocol in which an agent speaks to its model."""

    ANTHROPIC = "anthropic-messages"
    RESPONSES = "openai-responses"
    CHAT = "openai-chat"
    GEMINI = "gemini"


class Ending(StrEnum):
    """How an agent ended; each is a result, and the state it left is graded in any case."""

    DONE = "done"
    GAVE_UP = "gave_up"
    TIMED_OUT = "timed_out"
    IDLE = "idle"
    LIMIT = "limit"
    MODEL_ERROR = "model_error"
    CRASHED = "crashed"
    SETUP_FAILED = "setup_failed"


class Key(StrEnum):
    """Where the key of the model was: at the gateway, or with the agent as a stated exception."""

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
    """What the vendor's side did besides answering, as the gateway saw it.

    `models` counts answers by the model that gave them. `removed` counts the requests from which a
    tool or content that the vendor would have run or fetched was removed, `offered` those that were
    forwarded with it. `retried` counts by HTTP status the calls that the gateway repeated, after
    `waited_seconds` in total.
    """

    models: Mapping[str, int] = field(default_factory=dict[str, int])
    removed: Mapping[str, int] = field(default_factory=dict[str, int])
    offered: Mapping[str, int] = field(default_factory=dict[str, int])
    searches: int = 0
    retried: Mapping[str, int] = field(default_factory=dict[str, int])
    waited_seconds: float = 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Tally:
    """Counts of the gateway. `usage` is the sum of the calls that reported it.

    `estimate` covers the other calls. `refused` counts errors by HTTP status; 200 is an error
    within an answer.
    """

    usage: Usage = field(default_factory=Usage)
    estimate: UsageEstimate | None = None
    calls: int = 0
    refused: Mapping[str, int] = field(default_factory=dict[str, int])
    limit: str | None = None
    last_error: str | None = None
    vendor: VendorRecord = field(default_factory=VendorRecord)


@dataclass(frozen=True, kw_only=True, slots=True)
class Account:
    """What an agent's own events say of its run; None where they do not say it."""

    ending: Ending | None = None
    detail: str | None = None
    usage: Usage | None = None
    version: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentRun:
    """How the agent ended and what it used. The exit code is evidence, never the verdict.

    `usage` is the gateway's count (the agent's own without a gateway), `estimate` bounds the calls
    that this count lacks, `reported` is what the agent says itself. `invalid` is why the run does
    not count through no fault of the agent, such as another model than the requested one.
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


@dataclass(frozen=True, kw_only=True, slots=True)
class FieldFault:
    """One field of the report that breaks the contract; the rest of the report is used.

    `field` is `report.json` where the text itself is at fault.
    """

    field: str
    message: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """What the agent claims; None says "not verified", or that the field cannot be used.

    `python_path` is empty where the report names no interpreter that can be run: nothing can be
    measured then, but its other claims are still claims. Unknown fields are not kept.
    """

    python_path: str
    python_version: str | None
    torch_version: str | None
    cuda_available: bool | None
    gpu_count: int | None
    ddp_expected_ok: bool | None
    env_tool: str | None
    env_name: str | None
    notes: str | None
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    faults: tuple[FieldFault, ...] = ()


PAPER_FIELDS: Final = (
    "python_path",
    "python_version",
    "torch_version",
    "cuda_available",
    "gpu_count",
    "ddp_expected_ok",
)
"""The fields of a report that the paper's C5 compares with observations: the checkable claims."""


class ReportFaultKind(StrEnum):
    """Why a report is unusable."""

    MISSING = "missing"
    NOT_A_FILE = "not_a_file"
    TOO_LARGE = "too_large"
    NOT_JSON = "not_json"
    NOT_VALID = "not_valid"


@dataclass(frozen=True, kw_only=True, slots=True)
class ReportFault:
    """There is no usable report, and precisely why; an expected outcome, hence a value."""

    kind: ReportFaultKind
    message: str


def find_blocking_fault(report: Report | ReportFault) -> ReportFault | None:
    """Return why no level can be measured with a report; None if it names an interpreter."""
    if isinstance(report, ReportFault):
        return report
    if report.python_path:
        return None
    reasons = (fault.message for fault in report.faults if fault.field == "python_path")
    return make_report_fault(next(reasons, "python_path names no interpreter"))


def make_report_fault(reason: str) -> ReportFault:
    """Return the fault of a report in which nothing can be used."""
    return ReportFault(kind=ReportFaultKind.NOT_VALID, message=f"report.json: {reason}")


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
    """What was seen when the sandbox was frozen.

    `copies` are files outside of the checkout that stand for tracked modules, and are edited;
    `shadowing` are untracked modules in it that stand for installed or standard ones. `known_hooks`
    are those of the interpreter that a package is known for, by the hashes of their files.
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
    """One agent; `program` is its pinned package, `missing` what a trial here would fail for."""

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
    """All agents, as seen with one kind of sandbox."""

    sandbox: str
    agents: tuple[ListedAgent, ...]
