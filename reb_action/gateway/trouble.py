"""Counts failed calls of the model, and knows whether the model has answered since."""

import time
from collections import Counter
from collections.abc import Mapping

from reb_action.model.fault import FaultCause, Trouble


class FailureLog:
    """Failures by cause. A complete answer ends the trouble; the counts stay. Not thread-safe."""

    def __init__(self, counts: Mapping[FaultCause, int] | None = None) -> None:
        self._counts: Counter[FaultCause] = Counter(counts or {})
        self._last: tuple[FaultCause, str | None] | None = None
        self._since = 0.0
        self._stopped: float | None = None

    def add(self, cause: FaultCause, message: str | None) -> None:
        """Note a failed call; `message` is the vendor's own text, if there is one."""
        if self._last is None:
            self._since = time.monotonic()
        kept = self._last[1] if self._last is not None and self._last[0] is cause else None
        self._last = cause, message or kept
        self._counts[cause] += 1

    def clear(self) -> None:
        """Note a complete answer."""
        self._last = None

    def stop_clock(self) -> None:
        """Note the end of the trial."""
        self._stopped = self._stopped or time.monotonic()

    def counts(self) -> Mapping[FaultCause, int]:
        """Return how often each cause occurred."""
        return dict(self._counts)

    def trouble(self) -> Trouble | None:
        """Return the failures since the last complete answer; None if there are none."""
        if self._last is None:
            return None
        cause, message = self._last
        seconds = max((self._stopped or time.monotonic()) - self._since, 0.0)
        return Trouble(cause=cause, seconds=round(seconds, 3), message=message)
