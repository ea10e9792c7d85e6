"""Turns a run that has no result into the error, and so the exit code, of its command."""

from reb_action.errors import ModelError, SandboxError
from reb_action.judge.faults import find_party, find_run_fault
from reb_action.model.agent import AgentRun
from reb_action.model.fault import Party
from reb_action.model.limits import Limits


def demand_result(run: AgentRun | None, limits: Limits | None) -> None:
    """Raise ModelError or SandboxError if the agent ended through no fault of its own."""
    fault = find_run_fault(run, limits)
    if run is None or fault is None:
        return
    is_runner = run.invalid is None and find_party(run.ending, run.cause) is Party.RUNNER
    raise SandboxError(fault) if is_runner else ModelError(fault)
