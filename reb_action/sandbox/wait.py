"""Decides how long to wait for more output of a command."""

import time

from reb_action.sandbox.protocol import Until

LOOK_SECONDS = 0.5
"""How often to check while a command prints nothing."""

_ASK_SECONDS = 1.0
_QUIET_SECONDS = 0.2
_DRAIN_SECONDS = 1.0


class Patience:
    """Until the deadline or a reason to stop; after the end, until the output stops.

    A child in the background may hold the pipe open, and even fill it, for ever: after the end
    output is taken while no pause is longer than 0.2 s, and for one second at most.
    """

    def __init__(self, seconds: float, *, until: Until | None = None) -> None:
        self._begun = self._heard = self._asked = time.monotonic()
        self._deadline = self._begun + seconds
        self._ended: float | None = None
        self._until = until
        self.stopped: str | None = None

    def hear(self) -> None:
        """Note that output came."""
        self._heard = time.monotonic()

    def end(self) -> None:
        """Note that the command has ended."""
        if self._ended is None:
            self._ended = time.monotonic()

    def look(self) -> None:
        """Ask, once a second at most, whether there is a reason to stop a command that runs."""
        now = time.monotonic()
        if self._until is None or self._ended is not None or now - self._asked < _ASK_SECONDS:
            return
        self._asked = now
        self.stopped = self.stopped or self._until()

    @property
    def spent_seconds(self) -> float:
        """How long ago the command was started."""
        return time.monotonic() - self._begun

    @property
    def left_seconds(self) -> float:
        """How long still to wait; nothing is left when it is not above zero."""
        now = time.monotonic()
        if self._ended is None:
            return self._deadline - now if self.stopped is None else 0.0
        silence = max(self._heard, self._ended) + _QUIET_SECONDS
        return min(silence, self._ended + _DRAIN_SECONDS) - now
