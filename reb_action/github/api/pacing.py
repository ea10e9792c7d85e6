"""How often and how fast GitHub is asked, and how long anybody waits for it."""

from collections.abc import Callable
from typing import Final

from reb_action.errors import GitHubError
from reb_action.model.github import Pacing

LIMIT_HITS: Final = 4


class Patience:
    """Spends requests, keeps writes apart and waits, each within what `Pacing` allows."""

    def __init__(
        self, pacing: Pacing, *, clock: Callable[[], float], sleep: Callable[[float], None]
    ) -> None:
        self.now = clock
        self._sleep = sleep
        self._pacing = pacing
        self._requests = pacing.requests
        self._seconds = pacing.waiting_seconds
        self._last_write = float("-inf")

    def before(self, *, write: bool, what: str) -> None:
        """Take one request from the budget and, for a write, keep the distance to the last one."""
        if self._requests == 0:
            raise GitHubError(
                f"{what}: {self._pacing.requests} requests were made and no more are allowed here, "
                "so that other jobs of the repository keep some of its hourly limit"
            )
        self._requests -= 1
        early = self._last_write + self._pacing.between_writes - self.now()
        if write and early > 0:
            self._sleep(early)

    def after(self, *, write: bool) -> None:
        """Note when a write ended."""
        if write:
            self._last_write = self.now()

    def wait(self, seconds: float, *, what: str) -> None:
        """Sleep; raises GitHubError instead where that is more than is left to wait."""
        if seconds > self._seconds:
            raise GitHubError(
                f"{what}: GitHub asks for {seconds:.0f} s more patience and only "
                f"{self._seconds:.0f} s of {self._pacing.waiting_seconds:.0f} s are left; "
                "run the job again later"
            )
        self._seconds -= seconds
        self._sleep(seconds)
