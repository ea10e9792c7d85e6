"""The party at fault: one table from an agent's ending and its cause.

A fault of the agent is a result, and the levels are judged. A fault of the model (its vendor, its
key, the network to it), or of the runner with its limits, makes the trial `invalid`. Without a
repository at its commit there is no trial. An agent that finished its work has recovered from
earlier faults. docs/faults.md explains the table.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from reb_action.model.agent import AgentRun, Ending, Resume
from reb_action.model.fault import FaultCause, Party
from reb_action.model.limits import Limits
from reb_action.model.manifest import Outcome


@dataclass(frozen=True, kw_only=True, slots=True)
class CauseRule:
    """The party at fault for a cause, a description of the cause, and advice."""

    party: Party
    words: str
    advice: str


def _model(words: str, advice: str) -> CauseRule:
    return CauseRule(party=Party.MODEL, words=words, advice=advice)


def _runner(words: str, advice: str) -> CauseRule:
    return CauseRule(party=Party.RUNNER, words=words, advice=advice)


_LATER: Final = "run the trial again later"
_CHECK_URL: Final = "check --model-url"

CAUSES: Final[Mapping[FaultCause, CauseRule]] = {
    FaultCause.KEY_REFUSED: _model("the vendor refused the API key", "check the key of the model"),
    FaultCause.PERMISSION_REFUSED: _model(
        "the vendor does not permit this call with this key",
        "check which models and regions the key may use",
    ),
    FaultCause.QUOTA_EXHAUSTED: _model(
        "the account at the vendor is out of credit or quota", "raise the quota at the vendor"
    ),
    FaultCause.RATE_LIMITED: _model(
        "the vendor's rate limit was exceeded", "run fewer trials at once"
    ),
    FaultCause.OVERLOADED: _model("the vendor was overloaded", _LATER),
    FaultCause.SERVER_ERROR: _model("the vendor's server failed", _LATER),
    FaultCause.MODEL_UNKNOWN: _model("the vendor does not know this model", "check --model"),
    FaultCause.ADDRESS_WRONG: _model("the model's API is not at this address", _CHECK_URL),
    FaultCause.NAME_UNRESOLVED: _model(
        "the name of the model's host does not resolve", "check --model-url and the runner's DNS"
    ),
    FaultCause.TLS_FAILED: _model(
        "no secure connection (TLS) to the model's host",
        "check its certificate, or set SSL_CERT_FILE",
    ),
    FaultCause.PROXY_REFUSED: _model(
        "the proxy refused the connection to the model", "check HTTPS_PROXY of the runner"
    ),
    FaultCause.CONNECTION_REFUSED: _model("the model's host refused the connection", _CHECK_URL),
    FaultCause.UNREACHABLE: _model(
        "the model's host cannot be reached", "check the runner's network and firewall"
    ),
    FaultCause.CONNECTION_CUT: _model("the model's answer was cut short", _LATER),
    FaultCause.MODEL_SILENT: _model("the model did not answer", _LATER),
    FaultCause.ANSWER_FAILED: _model("the model reported an error in its answer", _LATER),
    FaultCause.MODEL_FAILED: _model("the agent reports an error of its model", "see agent.log"),
    FaultCause.REQUEST_REJECTED: CauseRule(
        party=Party.AGENT, words="the vendor rejected the agent's request", advice="see agent.log"
    ),
    FaultCause.REQUEST_REFUSED: CauseRule(
        party=Party.AGENT,
        words="the gateway refused the agent's request",
        advice="see docs/models.md",
    ),
    FaultCause.OUT_OF_MEMORY: _runner("killed for memory", "raise --memory-mib"),
    FaultCause.OUT_OF_PROCESSES: _runner(
        "no more processes or threads could be started", "raise --processes"
    ),
    FaultCause.OUT_OF_SHARED_MEMORY: _runner("the shared memory was full", "raise --shm-mib"),
    FaultCause.DISK_FULL: _runner(
        "the disk was full", "free disk space on the runner, or raise --disk-mib"
    ),
    FaultCause.SETUP_SLOW: _runner("the set-up took longer than it may", "raise --setup-seconds"),
    FaultCause.PROGRAM_MISSING: _runner(
        "the sandbox does not have the agent's program", "check the image and the agent file"
    ),
    FaultCause.RUNNER_KILLED: _runner(
        "the runner was killed while the agent worked", "run the trial again"
    ),
    FaultCause.SANDBOX_LOST: _runner(
        "the sandbox was removed before the agent had finished", "run the trial again"
    ),
}
"""Every cause: the party at fault, a description, and advice."""

ENDINGS: Final[Mapping[Ending, Party]] = {
    Ending.DONE: Party.AGENT,
    Ending.GAVE_UP: Party.AGENT,
    Ending.TIMED_OUT: Party.AGENT,
    Ending.IDLE: Party.AGENT,
    Ending.LIMIT: Party.AGENT,
    Ending.CRASHED: Party.AGENT,
    Ending.MODEL_ERROR: Party.MODEL,
    Ending.SETUP_FAILED: Party.RUNNER,
}
"""The party at fault for an ending without a known cause. Budgets are the benchmark's own rules."""

OUTCOMES: Final[Mapping[Party, Outcome | None]] = {
    Party.AGENT: None,
    Party.MODEL: Outcome.INVALID,
    Party.RUNNER: Outcome.INVALID,
}
"""The outcome of every level by the party at fault; None: the levels are judged."""


UNENDED: Final = (
    "the agent's step did not end, so nothing could be observed; run reb agent again to resume it,"
    " or run the trial again"
)
"""The reason of every level if no end of the agent was recorded."""


def find_party(ending: Ending, cause: FaultCause | None) -> Party:
    """Return the party at fault for the way in which an agent ended."""
    if ending is Ending.DONE or cause is None:
        return ENDINGS[ending]
    return CAUSES[cause].party


def find_run_fault(run: AgentRun | None, limits: Limits | None) -> str | None:
    """Return why a trial is invalid through no fault of its agent; None if its levels count.

    `limits` are those of the sandbox; None where reb sets none itself.
    """
    if run is None:
        return None
    if run.invalid is not None:
        return run.invalid
    party = find_party(run.ending, run.cause)
    if OUTCOMES[party] is None:
        return None
    return f"not the agent's fault ({party}): {describe_end(run, limits)}"


def find_interruption(run: AgentRun | None) -> str | None:
    """Return why failures do not count: the agent was interrupted, and not continued."""
    if run is None or not run.interruptions or run.interruptions[-1].resumed is not Resume.MEASURE:
        return None
    rule = CAUSES[FaultCause.RUNNER_KILLED]
    return f"{rule.words}, after {run.interruptions[-1].seconds:.0f} s; {rule.advice}"


def name_limit(cause: FaultCause, limits: Limits | None) -> str | None:
    """Return the limit of the sandbox behind a cause; None if reb sets no such limit."""
    if limits is None:
        return None
    number, unit = {
        FaultCause.OUT_OF_MEMORY: (limits.memory_mib, "MiB of memory"),
        FaultCause.OUT_OF_SHARED_MEMORY: (limits.shm_mib, "MiB of shared memory"),
        FaultCause.OUT_OF_PROCESSES: (limits.processes, "processes"),
        FaultCause.DISK_FULL: (limits.disk_mib, "MiB of disk"),
    }.get(cause, (None, ""))
    return f"{number:,} {unit}" if number else None


def describe_end(run: AgentRun, limits: Limits | None) -> str:
    """Return the text of a run's end, with the advice if the cause is known."""
    if run.cause is None:
        return f"{run.ending.replace('_', ' ')}: {run.detail or 'no detail is known'}"
    detail = f" ({run.detail})" if run.detail else ""
    return f"{describe_cause(run.cause, limits)}{detail}; {CAUSES[run.cause].advice}"


def describe_cause(cause: FaultCause, limits: Limits | None) -> str:
    """Return the text of a cause, with the limit of the sandbox behind it."""
    limit = name_limit(cause, limits)
    return f"{CAUSES[cause].words}{f' (limit: {limit})' if limit else ''}"
