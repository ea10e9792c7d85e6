"""Checks that a step can finish before its job's deadline."""

import time
from typing import Final

from reb_action.errors import DeadlineError
from reb_action.model.agent import Protocol
from reb_action.model.limits import C0_SECONDS, FREEZE_SECONDS
from reb_action.model.manifest import Level, Manifest
from reb_action.session import state
from reb_action.session.layout import SessionLayout

RESERVE_SECONDS: Final = 120
"""Maximum seconds for judging, stopping and uploading."""

SPARE_SECONDS: Final = 3600
"""Added to the time limits of a trial for the checkout, and for the time between its steps."""

# Upper bounds of the time limits in `probe/`, and of the work before and after each probe.
_FREEZE: Final = FREEZE_SECONDS + 60
_C0: Final = C0_SECONDS + 60
_C2: Final = 360
_DECOY: Final = 300
_AROUND: Final = 120


def agent_seconds(total: int, setup: int, protocol: Protocol) -> int:
    """Return the maximum duration of the agent's step, with the retry of the paper's protocol."""
    return total * protocol.starts + setup + _FREEZE


def level_seconds(manifest: Manifest, level: Level) -> int:
    """Return the maximum duration of a level's step."""
    entrypoint = manifest.entrypoints.get(level)
    if entrypoint is not None:
        own = manifest.stages.values() if level is Level.C1 else ()
        stages = sum(stage.timeout_seconds + _AROUND for stage in own)
        return entrypoint.timeout_seconds + _DECOY + _AROUND + stages
    return {Level.C0: _C0, Level.C2: _C2}.get(level, 0)


def trial_seconds(manifest: Manifest, levels: tuple[Level, ...], agent: int) -> int:
    """Return the maximum duration of a trial."""
    return agent + sum(level_seconds(manifest, level) for level in levels)


def shortage(what: str, needed: int, remaining: float) -> str | None:
    """Return why a step must not start, or None if it ends before its job."""
    if remaining >= needed + RESERVE_SECONDS:
        return None
    available, maximum = max(int(remaining // 60), 0), -(-(needed + RESERVE_SECONDS) // 60)
    return (
        f"{what} may take {maximum} minutes and this job has {available} left, so it was not"
        " started; continue in another job, or raise timeout-minutes and job-minutes"
    )


def demand_time(layout: SessionLayout, level: Level | None, ends_at: int | None) -> None:
    """Raise DeadlineError if the agent, or a level, might not end before its job."""
    if ends_at is None:
        return
    session = state.load(layout)
    choice = session.agent
    if level is None:
        needed = agent_seconds(choice.total_seconds, choice.setup_seconds, choice.protocol)
    else:
        needed = level_seconds(session.trial.manifest, level)
    reason = shortage(level or "the agent", needed, ends_at - time.time())
    if reason is not None:
        raise DeadlineError(reason)
