"""Says whether a step still fits into the minutes that its job has left; no clock here."""

import time
from typing import Final

from reb_action.errors import DeadlineError
from reb_action.model.manifest import Level, Manifest
from reb_action.session import state
from reb_action.session.layout import SessionLayout

RESERVE_SECONDS: Final = 120
"""What judging, stopping and uploading take at most."""

# Upper bounds of the probes' own clocks in `probe`, and of what goes before and after.
_FREEZE: Final = 900
_C0: Final = 1260
_C2: Final = 360
_DECOY: Final = 300
_AROUND: Final = 120


def agent_seconds(total: int, setup: int) -> int:
    """Return the most that the agent's step takes."""
    return total + setup + _FREEZE


def level_seconds(manifest: Manifest, level: Level) -> int:
    """Return the most that the step of a level takes."""
    entrypoint = manifest.entrypoints.get(level)
    if entrypoint is not None:
        return entrypoint.timeout_seconds + _DECOY + _AROUND
    return {Level.C0: _C0, Level.C2: _C2}.get(level, 0)


def trial_seconds(manifest: Manifest, levels: tuple[Level, ...], agent: int) -> int:
    """Return the most that a whole trial takes."""
    return agent + sum(level_seconds(manifest, level) for level in levels)


def shortage(what: str, needed: int, left: float) -> str | None:
    """Return why a step must not begin, or None where it ends before the job does."""
    if left >= needed + RESERVE_SECONDS:
        return None
    minutes, wanted = max(int(left // 60), 0), -(-(needed + RESERVE_SECONDS) // 60)
    return (
        f"{what} may take {wanted} minutes and this job has {minutes} left, so it was not begun;"
        " continue in another job, or raise timeout-minutes and job-minutes"
    )


def demand_time(layout: SessionLayout, level: Level | None, ends_at: int | None) -> None:
    """Raise DeadlineError where the agent, or a level, may not end before its job does."""
    if ends_at is None:
        return
    begun = state.load(layout)
    choice = begun.agent
    if level is None:
        needed = agent_seconds(choice.total_seconds, choice.setup_seconds)
    else:
        needed = level_seconds(begun.trial.manifest, level)
    why = shortage(level or "the agent", needed, ends_at - time.time())
    if why is not None:
        raise DeadlineError(why)
