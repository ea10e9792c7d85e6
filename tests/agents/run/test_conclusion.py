"""How an agent ended is read from the clock, the gateway, its events and its report."""

from dataclasses import replace

import pytest

from reb_action.agents.run.conclusion import FINISHED, MODEL_SILENT, conclude
from reb_action.agents.spec import AgentLimits
from reb_action.model.agent import Account, Ending, Tally, Usage, VendorRecord
from reb_action.model.fault import FaultCause, Trouble
from reb_action.sandbox.protocol import Ended, FileFault

OK = Ended(exit_code=0, timed_out=False, seconds=1.0, stdout=b"", stderr=b"")
BAD = replace(OK, exit_code=1)
FULL_MEMORY = replace(OK, exit_code=137, is_out_of_memory=True)
KILLED = replace(OK, exit_code=None, timed_out=True)
IDLE = replace(OK, exit_code=None, stopped="nothing was heard for 60 seconds")
STAYS = replace(OK, exit_code=None, stopped=FINISHED)
OVERLOADED = Tally(calls=1, vendor=VendorRecord(retried={"529": 7}))
REPORT, NONE = b"{}", FileFault.MISSING
DONE = Account(ending=Ending.DONE)
OPEN = Account()
REFUSED = Tally(calls=3, refused={"401": 3})
FLAKY = Tally(usage=Usage(turns=2), calls=3, refused={"429": 1})
FULL = Tally(usage=Usage(turns=9), calls=9, refused={"403": 1}, limit="it made its 9 calls")
HOPELESS = Tally(calls=9, refused={"429": 9, "403": 1}, limit="it made its 9 calls")
LIMITED = replace(
    FLAKY,
    trouble=Trouble(cause=FaultCause.RATE_LIMITED, seconds=60.0, message="429: slow down"),
)
JUST_LIMITED = replace(FLAKY, trouble=replace(LIMITED.trouble, seconds=59.0))
WAITS = replace(OK, exit_code=None, stopped=f"{MODEL_SILENT} 60 seconds")
OVER = "it was stopped at its limit of 60 seconds"
NO_REPORT = "it ended with exit code 0 and left no report"

CASES = {
    "finished, but did not exit": (
        *(STAYS, REPORT, DONE, Tally(calls=2), Ending.DONE),
        "it had finished, but did not exit",
    ),
    "the clock while the gateway waits for an overloaded model": (
        *(KILLED, NONE, OPEN, OVERLOADED, Ending.MODEL_ERROR),
        "it was stopped at its limit of 60 seconds; its model answered 529 7 times",
    ),
    "errors within answers and no report": (
        *(BAD, NONE, OPEN, Tally(calls=2, refused={"200": 2}), Ending.MODEL_ERROR),
        (
            "it ended with exit code 1 and left no report; its model answered an error in an"
            " answer 2 times"
        ),
    ),
    "all is well": (OK, REPORT, DONE, Tally(calls=2), Ending.DONE, None),
    "nobody reads its events": (OK, REPORT, None, None, Ending.DONE, None),
    "a bad code beside a report": (
        *(BAD, REPORT, None, None, Ending.DONE),
        "it ended with exit code 1 although it left a report",
    ),
    "a report and no closing event": (
        *(OK, REPORT, OPEN, None, Ending.DONE),
        "it left a report, but its events break off",
    ),
    "no report": (OK, NONE, DONE, Tally(calls=2), Ending.GAVE_UP, NO_REPORT),
    "no report after one refusal of three": (OK, NONE, DONE, FLAKY, Ending.GAVE_UP, NO_REPORT),
    "no report and no parser": (OK, NONE, None, None, Ending.GAVE_UP, NO_REPORT),
    "a report that is a folder": (
        *(OK, FileFault.NOT_A_FILE, DONE, None, Ending.GAVE_UP),
        "it ended with exit code 0 and left a report that is not a regular file",
    ),
    "no report, closed, and a bad code": (
        *(BAD, NONE, DONE, None, Ending.GAVE_UP),
        "it ended with exit code 1 and left no report",
    ),
    "memory used up": (
        *(FULL_MEMORY, NONE, None, None, Ending.CRASHED),
        "it was killed because the sandbox ran out of memory, and left no report",
    ),
    "memory used up after the report": (
        *(FULL_MEMORY, REPORT, None, None, Ending.DONE),
        "it was killed because the sandbox ran out of memory, although it left a report",
    ),
    "death": (
        BAD,
        NONE,
        None,
        None,
        Ending.CRASHED,
        "it ended with exit code 1 and left no report",
    ),
    "events that break off": (
        *(OK, NONE, OPEN, None, Ending.CRASHED),
        "it ended with exit code 0 and left no report; its events break off",
    ),
    "what it says of a crash": (
        *(BAD, NONE, Account(ending=Ending.CRASHED, detail="bad flag"), None, Ending.CRASHED),
        "it ended with exit code 1 and left no report; bad flag",
    ),
    "the clock": (
        *(KILLED, REPORT, OPEN, None, Ending.TIMED_OUT),
        "it was stopped at its limit of 60 seconds",
    ),
    "silence": (IDLE, NONE, OPEN, Tally(), Ending.IDLE, "nothing was heard for 60 seconds"),
    "silence of the model too": (
        *(IDLE, NONE, OPEN, Tally(calls=1, refused={"504": 1}), Ending.MODEL_ERROR),
        "nothing was heard for 60 seconds; its model answered 504 1 times",
    ),
    "a limit": (IDLE, NONE, OPEN, FULL, Ending.LIMIT, "it made its 9 calls"),
    "a limit, then the clock": (KILLED, REPORT, OPEN, FULL, Ending.LIMIT, "it made its 9 calls"),
    "a limit of nothing but errors": (
        *(IDLE, NONE, OPEN, HOPELESS, Ending.MODEL_ERROR),
        "it made its 9 calls; its model answered 429 9 times, 403 1 times",
    ),
    "the clock after nothing but errors": (
        *(KILLED, NONE, OPEN, REFUSED, Ending.MODEL_ERROR),
        "it was stopped at its limit of 60 seconds; its model answered 401 3 times",
    ),
    "its own limit": (
        *(OK, REPORT, Account(ending=Ending.LIMIT, detail="200 turns"), None, Ending.LIMIT),
        "200 turns; it had left a report",
    ),
    "a model's error that it tells": (
        *(BAD, NONE, Account(ending=Ending.MODEL_ERROR, detail="401"), REFUSED),
        *(Ending.MODEL_ERROR, "401"),
    ),
    "a model's error that only the gateway tells": (
        *(OK, NONE, None, REFUSED, Ending.MODEL_ERROR),
        "it ended with exit code 0 and left no report; its model answered 401 3 times",
    ),
    "death after a model's error": (
        *(BAD, NONE, OPEN, LIMITED, Ending.MODEL_ERROR),
        (
            "it ended with exit code 1 and left no report; its model answered 429 1 times; last:"
            " 429: slow down"
        ),
    ),
    "death after an error from which it recovered": (
        *(BAD, NONE, OPEN, FLAKY, Ending.CRASHED),
        "it ended with exit code 1 and left no report; its events break off",
    ),
    "the clock while the model fails": (
        *(KILLED, NONE, OPEN, LIMITED, Ending.MODEL_ERROR),
        f"{OVER}; its model answered 429 1 times; last: 429: slow down",
    ),
    "the clock just after a failure of the model": (
        *(KILLED, NONE, OPEN, JUST_LIMITED, Ending.TIMED_OUT),
        "it was stopped at its limit of 60 seconds",
    ),
    "a model that sends nothing": (
        *(WAITS, NONE, OPEN, Tally(calls=1), Ending.MODEL_ERROR),
        "its model sent nothing for 60 seconds",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_ending_and_its_reason(case: str) -> None:
    ended, left, account, tally, ending, detail = CASES[case]
    limits = AgentLimits(total_seconds=60)
    end = conclude(ended, left, account, tally, limits)
    assert (end.ending, end.detail) == (ending, detail)


def test_error_of_the_model_names_the_last_cause_else_the_most_frequent() -> None:
    limits = AgentLimits(total_seconds=60)
    assert conclude(BAD, NONE, OPEN, LIMITED, limits).cause is FaultCause.RATE_LIMITED
    failures = {FaultCause.OVERLOADED: 2, FaultCause.SERVER_ERROR: 3}
    past = replace(FLAKY, vendor=VendorRecord(failures=failures))
    told = Account(ending=Ending.MODEL_ERROR, detail="500")
    assert conclude(BAD, NONE, told, past, limits).cause is FaultCause.SERVER_ERROR
    assert conclude(BAD, NONE, told, None, limits).cause is FaultCause.MODEL_FAILED
    assert conclude(OK, REPORT, OPEN, LIMITED, limits).cause is None
