"""Determines how an agent ended: from the clock, the gateway, its events, its report, the kernel.

The exit code comes last: agents exit with 0 after an error, and with any number after success.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from reb_action.agents.spec import AgentLimits
from reb_action.model.agent import Account, Ending, Tally
from reb_action.model.fault import FaultCause
from reb_action.model.limits import LimitHits
from reb_action.sandbox.disk import DISK_FULL
from reb_action.sandbox.protocol import Ended, FileFault
from reb_action.session.report import LIMIT_BYTES

FINISHED: Final = "it had finished, but did not exit"
"""Why an agent was ended that had nothing left to do."""

MODEL_SILENT: Final = "its model sent nothing for"
"""How the reason begins for which an agent was ended that waited for its model."""

RUNNER_KILLED: Final = "the runner was killed"
"""Why an agent was ended that was interrupted, and is not continued."""

FAILING_SECONDS: Final = 60.0
"""A model that fails for at least this long when the time is over has ended the agent."""

_NO_REPORT: Final = {
    FileFault.MISSING: "left no report",
    FileFault.NOT_A_FILE: "left a report that is not a regular file",
    FileFault.TOO_LARGE: f"left a report of more than {LIMIT_BYTES} bytes",
}
_KILLED: Final = 128 + 9


@dataclass(frozen=True, kw_only=True, slots=True)
class Conclusion:
    """How an agent ended, the details in words, and the cause if something else ended it."""

    ending: Ending
    detail: str | None = None
    cause: FaultCause | None = None


def conclude(
    ended: Ended,
    left: bytes | FileFault,
    account: Account | None,
    tally: Tally | None,
    limits: AgentLimits,
    hits: LimitHits | None = None,
) -> Conclusion:
    """Return how an agent ended and, unless all is well, the reason.

    `account` is None without a parser of the agent's events, `tally` is None without a gateway.
    `hits` are the limits of the sandbox that were hit while the agent ran.
    """
    reported = not isinstance(left, FileFault)
    if ended.stopped == RUNNER_KILLED:
        return _interrupted(ended, left)
    cut = _cut_short(ended, tally, limits)
    if cut is not None:
        return cut
    own = account.ending if account is not None else None
    if account is not None and (own is Ending.LIMIT or own is Ending.MODEL_ERROR):
        detail = _with_report(account.detail or _refusals(tally), reported=reported)
        cause = _model_cause(tally) if own is Ending.MODEL_ERROR else None
        return Conclusion(ending=own, detail=detail, cause=cause)
    if reported:
        return Conclusion(ending=Ending.DONE, detail=_doubt(ended, account))
    missing = f"{_end(ended)} and {_NO_REPORT[left]}"
    return _unreported(ended, account, tally, missing, hits or LimitHits())


def _interrupted(ended: Ended, left: bytes | FileFault) -> Conclusion:
    """Return the end of an interrupted agent; its environment is measured unchanged."""
    after = f"it was interrupted after {ended.seconds:.0f} s, as {RUNNER_KILLED},"
    if isinstance(left, FileFault):
        detail = f"{after} and {_NO_REPORT[left]}"
        return Conclusion(ending=Ending.CRASHED, detail=detail, cause=FaultCause.RUNNER_KILLED)
    detail = f"{after} and the environment that it left was measured"
    return Conclusion(ending=Ending.DONE, detail=detail, cause=FaultCause.RUNNER_KILLED)


def _unreported(
    ended: Ended, account: Account | None, tally: Tally | None, missing: str, hits: LimitHits
) -> Conclusion:
    """Return how an agent ended that left no usable report."""
    ending, detail = Ending.GAVE_UP, missing
    if account is not None and account.ending in (None, Ending.CRASHED):
        ending, detail = Ending.CRASHED, f"{missing}; {account.detail or 'its events break off'}"
    elif account is None and ended.exit_code != 0:
        ending = Ending.CRASHED
    cause = _limit_cause(ended, ending, hits)
    if cause is not None:
        return Conclusion(ending=Ending.CRASHED, detail=detail, cause=cause)
    if _model_failed(ended, account, tally):
        detail = f"{missing}; {_refusals(tally)}"
        return Conclusion(ending=Ending.MODEL_ERROR, detail=detail, cause=_model_cause(tally))
    return Conclusion(ending=ending, detail=detail)


def _limit_cause(ended: Ended, ending: Ending, hits: LimitHits) -> FaultCause | None:
    """Return the limit of the sandbox that explains why an agent left no report."""
    if hits.memory_kills and (ended.exit_code == _KILLED or ending is Ending.CRASHED):
        return FaultCause.OUT_OF_MEMORY
    if hits.disk_full:
        return FaultCause.DISK_FULL
    if hits.processes_refused and ending is Ending.CRASHED:
        return FaultCause.OUT_OF_PROCESSES
    return None


def _cut_short(ended: Ended, tally: Tally | None, limits: AgentLimits) -> Conclusion | None:
    """Return what ended the agent from outside, or None; a limit of the model comes first."""
    if tally is not None and tally.limit is not None:
        cut = Conclusion(ending=Ending.LIMIT, detail=tally.limit)
    elif ended.stopped == FINISHED:
        return None
    elif ended.stopped is not None and ended.stopped.startswith(MODEL_SILENT):
        return Conclusion(
            ending=Ending.MODEL_ERROR, detail=ended.stopped, cause=FaultCause.MODEL_SILENT
        )
    elif ended.stopped == DISK_FULL:
        detail = f"it was stopped after {ended.seconds:.0f} s"
        return Conclusion(ending=Ending.CRASHED, detail=detail, cause=FaultCause.DISK_FULL)
    elif ended.stopped is not None:
        cut = Conclusion(ending=Ending.IDLE, detail=ended.stopped)
    elif ended.timed_out:
        detail = f"it was stopped at its limit of {limits.total_seconds} seconds"
        cut = Conclusion(ending=Ending.TIMED_OUT, detail=detail)
    else:
        return None
    if not _never_answered(tally) and (cut.ending is Ending.LIMIT or not _is_failing(tally)):
        return cut
    # An agent that asks again and again is not what failed.
    detail = f"{cut.detail}; {_refusals(tally)}"
    return Conclusion(ending=Ending.MODEL_ERROR, detail=detail, cause=_model_cause(tally))


def _doubt(ended: Ended, account: Account | None) -> str | None:
    """Return what is unusual about the end of an agent that left a report, or None."""
    if account is not None and account.ending in (None, Ending.CRASHED):
        return f"it left a report, but {account.detail or 'its events break off'}"
    if ended.stopped is not None:
        return ended.stopped
    if ended.exit_code != 0:
        return f"{_end(ended)} although it left a report"
    return None


def _end(ended: Ended) -> str:
    if ended.is_out_of_memory:
        return "it was killed because the sandbox ran out of memory,"
    return f"it ended with exit code {ended.exit_code}"


def _model_failed(ended: Ended, account: Account | None, tally: Tally | None) -> bool:
    """Return whether errors of the model explain a missing report."""
    if tally is None or not _errors(tally):
        return False
    closed = account is not None and account.ending is Ending.DONE
    failed_last = tally.trouble is not None and ended.exit_code != 0
    return _never_answered(tally) or (failed_last and not closed)


def _is_failing(tally: Tally | None) -> bool:
    """Return whether the model had failed for so long that the agent could not finish."""
    trouble = None if tally is None else tally.trouble
    return trouble is not None and trouble.seconds >= FAILING_SECONDS


def _never_answered(tally: Tally | None) -> bool:
    return tally is not None and bool(_errors(tally)) and not tally.usage.turns


def _model_cause(tally: Tally | None) -> FaultCause:
    """Return the cause of the model's last failure, else of its most frequent one."""
    if tally is not None and tally.trouble is not None:
        return tally.trouble.cause
    failures = () if tally is None else tally.vendor.failures.items()
    return max(failures, key=lambda pair: pair[1], default=(FaultCause.MODEL_FAILED, 0))[0]


def _errors(tally: Tally) -> Mapping[str, int]:
    """Return how often each HTTP status came, including calls that the gateway repeated."""
    return Counter(tally.refused) + Counter(tally.vendor.retried)


def _refusals(tally: Tally | None) -> str:
    if tally is None or not _errors(tally):
        return "its model failed"
    counts = ", ".join(f"{_status(code)} {count} times" for code, count in _errors(tally).items())
    message = tally.trouble.message if tally.trouble is not None else None
    return f"its model answered {counts}" + (f"; last: {message}" if message else "")


def _status(code: str) -> str:
    return "an error in an answer" if code == "200" else code


def _with_report(detail: str, *, reported: bool) -> str:
    return f"{detail}; it had left a report" if reported else detail
