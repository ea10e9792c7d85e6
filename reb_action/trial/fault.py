"""A run without a result: its error, with the exit code, and its record."""

from dataclasses import replace
from typing import Final

from reb_action import documents
from reb_action.errors import ModelError, SandboxError
from reb_action.judge.faults import CAUSES, find_party, find_run_fault
from reb_action.model.agent import AgentRun, Ending
from reb_action.model.fault import FaultCause, Party
from reb_action.model.limits import Limits
from reb_action.session import state
from reb_action.session.layout import SessionLayout

FULL_DISK: Final = (
    f"{CAUSES[FaultCause.DISK_FULL].words}; {CAUSES[FaultCause.DISK_FULL].advice} and run the trial"
    " again"
)


def demand_result(run: AgentRun | None, limits: Limits | None) -> None:
    """Raise ModelError or SandboxError if the agent was not at fault for its end."""
    fault = find_run_fault(run, limits)
    if run is None or fault is None:
        return
    is_runner = run.invalid is None and find_party(run.ending, run.cause) is Party.RUNNER
    raise SandboxError(fault) if is_runner else ModelError(fault)


def record_full_disk(layout: SessionLayout, run: AgentRun | None) -> AgentRun:
    """Write that a trial ended on a full disk, before what its agent left could be measured."""
    before = "it had not ended" if run is None else f"it had ended: {run.ending.replace('_', ' ')}"
    bare = AgentRun(
        agent=state.load(layout).trial.agent,
        version="",
        ending=Ending.CRASHED,
        exit_code=None,
        seconds=0.0,
        setup_seconds=0.0,
    )
    detail = f"{before}; its sandbox could not be frozen"
    full = replace(run or bare, ending=Ending.CRASHED, cause=FaultCause.DISK_FULL, detail=detail)
    documents.write(layout.agent_run, full, kind="agent_run")
    return full
