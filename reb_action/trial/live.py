"""Shows an agent's work as it happens: a line for each turn, a heartbeat while nothing happens."""

import threading
import time
from typing import TYPE_CHECKING, Final

from reb_action.model.progress import Progress
from reb_action.render.turn_lines import TurnTotals, heartbeat_line, turn_line

if TYPE_CHECKING:
    from reb_action.gateway.conversation.record import Turn

HEARTBEAT_SECONDS: Final = 60.0
"""How long nothing is shown before there is a heartbeat."""


class LiveView:
    """Reports an agent's work to `tell`; several threads may call its methods.

    Without `shows_turns` there is only the heartbeat.
    """

    def __init__(
        self, tell: Progress, *, shows_turns: bool, heartbeat_seconds: float = HEARTBEAT_SECONDS
    ) -> None:
        self._tell = tell
        self._shows_turns = shows_turns
        self._heartbeat_seconds = heartbeat_seconds
        self._totals = TurnTotals()
        self._lock = threading.Lock()
        self._turned = self._told = time.monotonic()

    def add_turn(self, turn: "Turn") -> None:
        """Show a turn that has ended."""
        with self._lock:
            self._totals.add(turn)
            self._turned = time.monotonic()
            if self._shows_turns:
                self._told = self._turned
                self._tell(turn_line(turn, self._totals))

    def beat(self, output: str) -> None:
        """Show that the agent still works, if nothing was shown for long; `output` is its last."""
        with self._lock:
            now = time.monotonic()
            if now - self._told < self._heartbeat_seconds:
                return
            self._told = now
            quiet = now - self._turned
            self._tell(heartbeat_line(self._totals, quiet_seconds=quiet, output=output))
