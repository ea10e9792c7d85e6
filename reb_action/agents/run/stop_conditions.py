"""When a running agent is stopped: its budget, its silence, or work that is finished."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from reb_action.agents import parsers
from reb_action.agents.run.conclusion import FINISHED, MODEL_SILENT
from reb_action.agents.run.log import AgentLog
from reb_action.agents.spec import AgentLimits, AgentSpec
from reb_action.model.agent import Ending
from reb_action.model.report import Report
from reb_action.sandbox.protocol import FileFault, Sandbox, Until
from reb_action.session.layout import SessionLayout
from reb_action.session.report import LIMIT_BYTES, parse

if TYPE_CHECKING:
    from reb_action.gateway.gateway import Gateway

_FINISHED_SECONDS: Final = 60.0
"""After so much silence, an agent with a final event and a valid report has finished."""


class FinishCheck:
    """Checks whether an agent that is silent has finished and only fails to exit.

    `has_finished` reads the agent's events and its report at most once per `_FINISHED_SECONDS`.
    """

    def __init__(self, sandbox: Sandbox, spec: AgentSpec, layout: SessionLayout) -> None:
        self._sandbox = sandbox
        self._parser = spec.parser
        self._folder = layout.trajectory
        self._next_check = 0.0

    def has_finished(self, quiet_seconds: float) -> bool:
        """Return whether its last event says that it is done, and its report is valid."""
        now = time.monotonic()
        if quiet_seconds < _FINISHED_SECONDS or now < self._next_check:
            return False
        self._next_check = now + _FINISHED_SECONDS
        account = parsers.read(self._parser, self._folder)
        if account is None or account.ending is not Ending.DONE:
            return False
        report = self._sandbox.read(self._sandbox.layout.report, limit_bytes=LIMIT_BYTES)
        return not isinstance(report, FileFault) and isinstance(parse(report), Report)


def make_stop_check(
    limits: AgentLimits,
    gateway: "Gateway | None",
    log: AgentLog,
    finish: FinishCheck,
    beat: Callable[[str], None],
) -> Until:
    """Return a function that returns why the agent must stop, or None while it may continue."""

    def reason() -> str | None:
        beat(log.last_line)
        if gateway is not None and (limit := gateway.tally().limit) is not None:
            return limit
        model_quiet = log.quiet_seconds() if gateway is None else gateway.quiet_seconds()
        quiet = min(log.quiet_seconds(), model_quiet)
        if finish.has_finished(quiet):
            return FINISHED
        if quiet < limits.idle_seconds:
            return None
        # The model was silent if a call was in progress for most of the time.
        if gateway is not None and 2 * gateway.pending_seconds() > limits.idle_seconds:
            return f"{MODEL_SILENT} {limits.idle_seconds} seconds"
        return f"no output from it or its model for {limits.idle_seconds} seconds"

    return reason
