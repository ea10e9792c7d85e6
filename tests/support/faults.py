"""Faults of every party: an end of an agent, or a run of an entry point, and what is reported."""

from dataclasses import dataclass, field, replace

from reb_action.agents.run.conclusion import MODEL_SILENT, conclude
from reb_action.agents.run.launch import SetupFault
from reb_action.agents.spec import AgentLimits
from reb_action.gateway.fault import classify_answer, classify_exception
from reb_action.judge.faults import find_party
from reb_action.judge.gate import decide, parse_fail_on
from reb_action.judge.judge import judge
from reb_action.model.agent import Account, AgentRun, Ending, Tally, Usage, VendorRecord
from reb_action.model.fault import Trouble
from reb_action.model.limits import LimitHits, Limits
from reb_action.model.manifest import Level
from reb_action.model.report import ReportFaultKind
from reb_action.sandbox.protocol import Ended, FileFault
from reb_action.session import report
from tests.support.evidence import FREEZE, evidence

OK = Ended(exit_code=0, timed_out=False, seconds=9.0, stdout=b"", stderr=b"")
DIED = replace(OK, exit_code=1)
KILLED = replace(OK, exit_code=137)
OVER = replace(OK, exit_code=None, timed_out=True)
SILENT = replace(OK, exit_code=None, stopped="no output from it or its model for 60 seconds")
WAITING = replace(OK, exit_code=None, stopped=f"{MODEL_SILENT} 60 seconds")
REPORT = b"{}"
BROKEN_OFF = Account()
CLOSED = Account(ending=Ending.DONE)
LIMITS = Limits(memory_mib=8192, shm_mib=1024, processes=512)
_NO_REPORT = report.fault(ReportFaultKind.MISSING)


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A failed call: an HTTP status with the vendor's error, or an exception."""

    status: int
    error: dict | None = None
    exception: Exception | None = None

    @property
    def cause(self):
        if self.exception is not None:
            return classify_exception(self.exception, sent=self.status == 0)
        return classify_answer(self.status, self.error)

    @property
    def message(self):
        if self.exception is not None:
            return f"502: the model cannot be reached ({self.exception})"
        text = self.error.get("error", self.error)
        return f"{self.status}: {text['message']}"


def says(http_status, message, **codes):
    return Failure(status=http_status, error={"error": {"message": message, **codes}})


def raises(exception, *, sent=False):
    return Failure(status=0 if sent else 502, exception=exception)


def tally_of(failure, *, turns=0, seconds=90.0, recovered=False):
    """Return the gateway's counts after `turns` answers and then, or before, one failure."""
    trouble = Trouble(cause=failure.cause, seconds=seconds, message=failure.message)
    return Tally(
        usage=Usage(turns=turns),
        calls=turns + 1,
        refused={str(failure.status or 502): 1},
        last_error=failure.message,
        trouble=None if recovered else trouble,
        vendor=VendorRecord(failures={failure.cause: 1}),
    )


@dataclass(frozen=True, kw_only=True)
class AgentFault:
    """A fault while the agent ran."""

    group: str
    name: str
    ended: Ended | None = DIED
    left: bytes | FileFault = FileFault.MISSING
    account: Account | None = field(default_factory=Account)
    tally: Tally | None = None
    hits: LimitHits = field(default_factory=LimitHits)
    setup: SetupFault | None = None

    def result(self):
        """Return what the verdict, and the gate, say of it."""
        if self.ended is None:
            ending, detail, cause = Ending.SETUP_FAILED, self.setup.detail, self.setup.cause
        else:
            limits = AgentLimits(total_seconds=60)
            end = conclude(self.ended, self.left, self.account, self.tally, limits, self.hits)
            ending, detail, cause = end.ending, end.detail, end.cause
        agent_run = AgentRun(
            agent="replay", version="1", ending=ending, exit_code=None, seconds=9.0,
            setup_seconds=1.0, detail=detail, cause=cause,
        )  # fmt: skip
        changes = {"agent_run": agent_run, "limits": LIMITS}
        if self.left is FileFault.MISSING:
            frozen = replace(FREEZE, report=_NO_REPORT, report_sha256=None)
            changes |= {"freeze": frozen, "report": _NO_REPORT, "interpreter": None}
            changes |= {"observations": {}}
        party = find_party(ending, cause)
        return describe(judge(evidence(**changes)), f"{ending}, {party}", cause)


@dataclass(frozen=True, kw_only=True)
class LevelFault:
    """A fault while the entry point of C1 ran."""

    group: str
    name: str
    run: object = None
    qualified: Limits | None = None

    def result(self):
        """Return what the verdict, and the gate, say of it."""
        changes = {"C1": self.run}
        seen = {**evidence().observations, **{Level(name): one for name, one in changes.items()}}
        qualified = {} if self.qualified is None else {Level.C1: self.qualified}
        verdict = judge(evidence(observations=seen, limits=LIMITS, qualified_limits=qualified))
        result = verdict.result(Level.C1)
        return f"C1 {result.outcome}: {result.reason}; gate {gate_of(verdict)}"


def describe(verdict, end, cause):
    levels = {}
    for result in verdict.results:
        levels.setdefault(result.outcome, []).append(result.level)
    outcomes = f"all {verdict.results[0].outcome}"
    if len(levels) > 1:
        outcomes = ", ".join(f"{span(names)} {outcome}" for outcome, names in levels.items())
    return f"{end}{f', {cause}' if cause else ''}: {outcomes}; gate {gate_of(verdict)}"


def span(names):
    return names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"


def gate_of(verdict):
    decision = decide(verdict, (Level.C0, Level.C1, Level.C5), parse_fail_on("invalid"))
    return 0 if decision.closed is None else 7
