"""Says how an agent ended, from the clock, the gateway, its own events and its report.

The exit code comes last: agents end with 0 after an error, and with any number after success.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Final

from reb_action.agents.spec import AgentLimits
from reb_action.model.agent import Account, Ending, Tally
from reb_action.sandbox.protocol import Ended, FileFault
from reb_action.session.report import LIMIT_BYTES

FINISHED: Final = "it had finished, but did not exit"
"""Why an agent was ended that had nothing left to do."""

_NO_REPORT: Final = {
    FileFault.MISSING: "left no report",
    FileFault.NOT_A_FILE: "left a report that is no regular file",
    FileFault.TOO_LARGE: f"left a report of more than {LIMIT_BYTES} bytes",
}


def conclude(
    ended: Ended,
    left: bytes | FileFault,
    account: Account | None,
    tally: Tally | None,
    limits: AgentLimits,
) -> tuple[Ending, str | None]:
    """Return how an agent ended and, unless all is well, why that is said.

    `account` is None where nobody reads the agent's events, `tally` where there was no gateway.
    """
    reported = not isinstance(left, FileFault)
    cut = _cut_short(ended, tally, limits)
    if cut is not None:
        return cut
    told = account.ending if account is not None else None
    if account is not None and (told is Ending.LIMIT or told is Ending.MODEL_ERROR):
        return told, _with_report(account.detail or _refusals(tally), reported=reported)
    if reported:
        return Ending.DONE, _doubt(ended, account)
    missing = f"{_end(ended)} and {_NO_REPORT[left]}"
    if _model_failed(ended, account, tally):
        return Ending.MODEL_ERROR, f"{missing}; {_refusals(tally)}"
    if account is not None and account.ending in (None, Ending.CRASHED):
        return Ending.CRASHED, f"{missing}; {account.detail or 'its events break off'}"
    if account is None and ended.exit_code != 0:
        return Ending.CRASHED, missing
    return Ending.GAVE_UP, missing


def _cut_short(
    ended: Ended, tally: Tally | None, limits: AgentLimits
) -> tuple[Ending, str | None] | None:
    """Say what ended the agent from outside, if anything did; a limit of the model goes first."""
    if tally is not None and tally.limit is not None:
        cut = Ending.LIMIT, tally.limit
    elif ended.stopped == FINISHED:
        return None
    elif ended.stopped is not None:
        return Ending.IDLE, ended.stopped
    elif ended.timed_out:
        cut = Ending.TIMED_OUT, f"it was ended after its limit of {limits.total_seconds} seconds"
    else:
        return None
    # An agent that asks again and again is not what failed.
    return (Ending.MODEL_ERROR, f"{cut[1]}; {_refusals(tally)}") if _never_answered(tally) else cut


def _doubt(ended: Ended, account: Account | None) -> str | None:
    """Say what is odd about an agent that left a report."""
    if account is not None and account.ending in (None, Ending.CRASHED):
        return f"it left a report, but {account.detail or 'its events break off'}"
    if ended.stopped is not None:
        return ended.stopped
    if ended.exit_code != 0:
        return f"{_end(ended)} although it left a report"
    return None


def _end(ended: Ended) -> str:
    if ended.is_out_of_memory:
        return "it used up the memory of the sandbox, which ended it,"
    return f"it ended with {ended.exit_code}"


def _model_failed(ended: Ended, account: Account | None, tally: Tally | None) -> bool:
    """Say whether errors of the model explain that there is no report."""
    if tally is None or not _errors(tally):
        return False
    closed = account is not None and account.ending is Ending.DONE
    return _never_answered(tally) or (ended.exit_code != 0 and not closed)


def _never_answered(tally: Tally | None) -> bool:
    return tally is not None and bool(_errors(tally)) and not tally.usage.turns


def _errors(tally: Tally) -> Mapping[str, int]:
    """Return how often each HTTP status came, also where the gateway repeated the call."""
    return Counter(tally.refused) + Counter(tally.vendor.retried)


def _refusals(tally: Tally | None) -> str:
    if tally is None or not _errors(tally):
        return "its model failed"
    counts = ", ".join(f"{_status(code)} {count} times" for code, count in _errors(tally).items())
    return f"its model answered {counts}"


def _status(code: str) -> str:
    return "an error within an answer" if code == "200" else code


def _with_report(detail: str, *, reported: bool) -> str:
    return f"{detail}; it had left a report" if reported else detail
