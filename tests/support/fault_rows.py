"""The rows of the table of faults in docs/faults.md: what happened, by group."""

import http.client
import socket
import ssl
from dataclasses import replace

from reb_action.agents.run.launch import SetupFault
from reb_action.model.agent import Account, Ending, Tally, Usage
from reb_action.model.fault import FaultCause
from reb_action.model.limits import LimitHits
from tests.support.evidence import decoy, run
from tests.support.faults import (
    BROKEN_OFF,
    CLOSED,
    KILLED,
    LIMITS,
    OK,
    OVER,
    REPORT,
    SILENT,
    WAITING,
    AgentFault,
    LevelFault,
    raises,
    says,
    tally_of,
)

_401 = says(401, "invalid x-api-key", type="authentication_error")
_429 = says(429, "Rate limit reached", type="rate_limit_exceeded")
_529 = says(529, "Overloaded", type="overloaded_error")
_SLOW_SETUP = SetupFault(detail="the agent's files were not in place", cause=FaultCause.SETUP_SLOW)
_NO_PROGRAM = SetupFault(
    detail="the sandbox has no program claude", cause=FaultCause.PROGRAM_MISSING
)
_BUDGET = Tally(usage=Usage(turns=9), calls=9, limit="the budget of 9 model calls is used up")
_HOPELESS = tally_of(_429)
_OUT_OF_MEMORY = LimitHits(memory_kills=1)
_OWN_LIMIT = LimitHits(memory_kills=1, memory_refused=3)


def vendor(name, failure, **more):
    return AgentFault(group=more.pop("group", "vendor"), name=name, tally=tally_of(failure), **more)


FAULTS = (
    # key
    vendor("wrong key", _401, group="key"),
    vendor("wrong key at Gemini (400)", says(400, "API key not valid.", status="INVALID_ARGUMENT"),
           group="key"),
    vendor("key without access to the model", says(403, "not allowed"), group="key"),
    vendor("account without credit (402)", says(402, "Insufficient Balance"), group="key"),
    vendor("quota used up (429)", says(429, "quota", code="insufficient_quota"), group="key"),
    vendor("credit used up at Anthropic (400)",
           says(400, "Your credit balance is too low to access the Anthropic API"), group="key"),
    # vendor
    vendor("rate limit", _429),
    vendor("overloaded (529)", _529),
    vendor("overloaded (503)", says(503, "The model is overloaded")),
    vendor("server error (500)", says(500, "internal error")),
    vendor("bad gateway (502)", says(502, "bad gateway")),
    vendor("unknown model", says(404, "The model `gpt-9` does not exist", code="model_not_found")),
    vendor("unknown model at Anthropic", says(404, "model: claude-9", type="not_found_error")),
    vendor("address without this API (404)", says(404, "no such page")),
    AgentFault(group="vendor", name="outage in the middle, until the agent gives up",
               tally=tally_of(says(500, "internal error"), turns=12)),
    AgentFault(group="vendor", name="outage in the middle, until the time is over", ended=OVER,
               tally=tally_of(_529, turns=12, seconds=1500.0)),
    AgentFault(group="vendor", name="overload from which the agent recovered", ended=OK,
               left=REPORT, account=CLOSED, tally=tally_of(_529, turns=12, recovered=True)),
    AgentFault(group="vendor", name="overload from which it recovered, no report", ended=OK,
               account=CLOSED, tally=tally_of(_529, turns=12, recovered=True)),
    AgentFault(group="vendor", name="model silent until the idle limit", ended=WAITING,
               tally=Tally(calls=1)),
    AgentFault(group="vendor", name="error of the model that only the agent reports",
               account=Account(ending=Ending.MODEL_ERROR, detail="invalid UTF-8"),
               tally=Tally(usage=Usage(turns=3), calls=3)),
    # network to the model
    vendor("name does not resolve",
           raises(socket.gaierror(-2, "Name or service not known")), group="network"),
    vendor("certificate refused", raises(ssl.SSLCertVerificationError("self-signed certificate")),
           group="network"),
    vendor("connection refused", raises(ConnectionRefusedError(111, "Connection refused")),
           group="network"),
    vendor("proxy refuses (407)", raises(OSError("Tunnel connection failed: 407")),
           group="network"),
    vendor("no route", raises(OSError(113, "No route to host")), group="network"),
    vendor("connection closed without an answer",
           raises(http.client.RemoteDisconnected("closed"), sent=True), group="network"),
    # memory, processes, disk
    AgentFault(group="memory", name="agent killed for memory", ended=KILLED, account=None,
               hits=_OUT_OF_MEMORY),
    AgentFault(group="memory", name="agent's build killed for memory, agent dies of it",
               account=BROKEN_OFF, hits=_OUT_OF_MEMORY),
    AgentFault(group="memory", name="agent's build killed for memory, agent recovers", ended=OK,
               left=REPORT, account=CLOSED, hits=_OUT_OF_MEMORY),
    AgentFault(group="memory", name="agent's build killed for memory, agent gives up", ended=OK,
               account=CLOSED, hits=_OUT_OF_MEMORY),
    AgentFault(group="processes", name="agent cannot start more processes", account=BROKEN_OFF,
               hits=LimitHits(processes_refused=4)),
    AgentFault(group="disk", name="disk of the runner full", ended=OK, account=CLOSED,
               hits=LimitHits(disk_full=True)),
    LevelFault(group="memory", name="entry point killed for memory",
               run=run(exit_code=-9, hits=_OUT_OF_MEMORY)),
    LevelFault(group="memory", name="worker killed for memory, entry point hangs",
               run=run(exit_code=None, timed_out=True, seconds=600.0, hits=_OUT_OF_MEMORY)),
    LevelFault(group="memory", name="worker killed for memory, entry point passes",
               run=run(hits=_OUT_OF_MEMORY)),
    LevelFault(group="memory", name="entry point fills the shared memory",
               run=run(exit_code=-7, hits=LimitHits(shm_full=True))),
    LevelFault(group="processes", name="entry point cannot start threads",
               run=run(exit_code=1, hits=LimitHits(processes_refused=9))),
    LevelFault(group="disk", name="entry point on a full disk",
               run=run(exit_code=1, hits=LimitHits(disk_full=True))),
    LevelFault(group="memory", name="qualified entry point killed for memory",
               run=run(exit_code=-9, hits=_OWN_LIMIT), qualified=LIMITS),
    LevelFault(group="memory", name="qualified with more memory, killed for memory",
               run=run(exit_code=-9, hits=_OWN_LIMIT), qualified=replace(LIMITS, memory_mib=8193)),
    LevelFault(group="memory", name="qualified, killed when the machine had no memory left",
               run=run(exit_code=-9, hits=_OUT_OF_MEMORY), qualified=LIMITS),
    LevelFault(group="memory", name="qualified entry point fills the shared memory",
               run=run(exit_code=-7, hits=LimitHits(shm_full=True)), qualified=LIMITS),
    LevelFault(group="processes", name="qualified entry point cannot start threads",
               run=run(exit_code=1, hits=LimitHits(processes_refused=9)), qualified=LIMITS),
    LevelFault(group="disk", name="qualified entry point on a full disk",
               run=run(exit_code=1, hits=LimitHits(disk_full=True)), qualified=LIMITS),
    LevelFault(group="disk", name="qualified, killed for memory on a full disk",
               run=run(exit_code=-9, hits=replace(_OWN_LIMIT, disk_full=True)), qualified=LIMITS),
    # set-up
    AgentFault(group="set-up", name="set-up slower than its limit", ended=None, setup=_SLOW_SETUP),
    AgentFault(group="set-up", name="agent's program missing", ended=None, setup=_NO_PROGRAM),
    # the agent's own
    AgentFault(group="agent", name="gives up", ended=OK, account=CLOSED),
    AgentFault(group="agent", name="crashes", account=BROKEN_OFF),
    AgentFault(group="agent", name="kills itself", ended=KILLED, account=None),
    AgentFault(group="agent", name="time is over", ended=OVER),
    AgentFault(group="agent", name="time is over just after a failed call", ended=OVER,
               tally=tally_of(_529, turns=12, seconds=2.0)),
    AgentFault(group="agent", name="silent until the idle limit", ended=SILENT),
    AgentFault(group="agent", name="budget of calls used up", ended=SILENT, tally=_BUDGET),
    vendor("sends a request that is too long (400)",
           says(400, "prompt is too long", type="invalid_request_error"), group="agent"),
    vendor("sends a body that is too large (413)", says(413, "too large"), group="agent"),
    LevelFault(group="agent", name="entry point fails", run=run(exit_code=1)),
    LevelFault(group="agent", name="proofs are staged",
               run=run(decoy=decoy(proofs_satisfied=True))),
)  # fmt: skip
