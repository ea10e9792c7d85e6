"""How far an agent has come, on disk while it works, so that a killed trial can be resumed."""

import time
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from reb_action import documents
from reb_action.model.agent import Interruption
from reb_action.session.layout import SessionLayout

_WRITE_SECONDS: Final = 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentProgress:
    """The agent's seconds so far, those of earlier parts included, and how its command ended.

    `has_begun`: its command was started. `has_ended`: the command is over. The other values are
    those of `Ended`.
    """

    has_begun: bool = False
    seconds: float = 0.0
    setup_seconds: float = 0.0
    attempts: int = 1
    interruptions: tuple[Interruption, ...] = ()
    has_ended: bool = False
    exit_code: int | None = None
    timed_out: bool = False
    stopped: str | None = None
    is_out_of_memory: bool = False


def load_progress(layout: SessionLayout) -> AgentProgress:
    """Return how far the agent has come."""
    if not layout.progress.exists():
        return AgentProgress()
    return documents.read(layout.progress, AgentProgress, kind="progress")


def save_progress(layout: SessionLayout, progress: AgentProgress) -> None:
    """Write how far the agent has come; on a full disk this is lost, not the trial."""
    with suppress(OSError):
        documents.write(layout.progress, progress, kind="progress")


class ProgressClock:
    """Keeps the agent's seconds on disk while its command runs; `before` is earlier progress."""

    def __init__(self, layout: SessionLayout, before: AgentProgress) -> None:
        self._layout = layout
        self._before = replace(before, has_begun=True)
        self._began = self._written = time.monotonic()
        save_progress(layout, self._before)

    def tick(self) -> None:
        """Write the time, once a second at most."""
        now = time.monotonic()
        if now - self._written < _WRITE_SECONDS:
            return
        self._written = now
        seconds = round(self._before.seconds + now - self._began, 3)
        save_progress(self._layout, replace(self._before, seconds=seconds))

    def stop(self, progress: AgentProgress) -> None:
        """Write how the command ended."""
        save_progress(self._layout, replace(progress, has_begun=True))
