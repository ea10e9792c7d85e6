"""Follows a trial of another process from its folder: its phase, each turn, a heartbeat."""

import time
from typing import Final

from reb_action.gateway.conversation.record import read_turn
from reb_action.model.progress import Progress
from reb_action.session import state
from reb_action.session.evidence import excerpt
from reb_action.session.layout import SessionLayout
from reb_action.session.state import Phase
from reb_action.trial.live import LiveView

_POLL_SECONDS: Final = 0.5
_PHASES: Final = {
    Phase.STARTING: "starting the sandbox",
    Phase.STARTED: "ready for the agent",
    Phase.AGENT: "the agent works",
    Phase.AGENT_DONE: "the agent has ended",
    Phase.FROZEN: "frozen; the levels are measured",
    Phase.STOPPED: "stopped",
}


def watch(layout: SessionLayout, *, tell: Progress, poll_seconds: float = _POLL_SECONDS) -> None:
    """Show the agent's turns until it has ended; raises UsageError if there is no trial."""
    state.demand_trial(layout)
    view = LiveView(tell, shows_turns=True)
    follower = _Follower(layout)
    shown = None
    while True:
        session = state.load(layout)
        if session.phase is not shown:
            shown = session.phase
            tell(f"{session.trial.id}: {_PHASES[shown]}")
        for line in follower.read_lines():
            turn = read_turn(line)
            if turn is not None:
                view.add_turn(turn)
        if shown not in (Phase.STARTING, Phase.STARTED, Phase.AGENT):
            return
        if not state.goes_on(session):
            tell(f"{session.trial.id}: its process has ended")
            return
        view.beat(_last_line(layout))
        time.sleep(poll_seconds)


class _Follower:
    """Reads the new lines of the conversation's record since the last call."""

    def __init__(self, layout: SessionLayout) -> None:
        self._path = layout.conversation
        self._offset = 0
        self._rest = b""

    def read_lines(self) -> list[bytes]:
        if not self._path.is_file():
            return []
        with self._path.open("rb") as file:
            file.seek(self._offset)
            data = self._rest + file.read()
            self._offset = file.tell()
        *lines, self._rest = data.split(b"\n")
        return lines


def _last_line(layout: SessionLayout) -> str:
    lines = excerpt(layout.agent_log).strip().splitlines()
    return lines[-1] if lines else ""
