"""Holds the artifacts of a run against its plan: each trial has a verdict, or is missing."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from reb_action import conclusion, session
from reb_action.errors import RebError
from reb_action.gate import FailOn, decide
from reb_action.layout import SessionLayout
from reb_action.model.manifest import Level
from reb_action.model.plan import Plan
from reb_action.model.verdict import Verdict

_ATTEMPT: Final = re.compile(r"\.a(\d{1,4})$")
_ABSENT: Final = "no artifact of this trial came back"


def collect(plan: Plan, folder: Path) -> dict[str, Verdict | str]:
    """Return, for each planned trial, its verdict or why there is none.

    `folder` holds one folder per artifact, called `reb-<entry>.a<attempt of the run>`; of two
    attempts the later one counts. What no plan asked for is ignored.
    """
    found: dict[str, Verdict | str] = {trial.id: _ABSENT for trial in plan.trials}
    for place in sorted(_trials(folder), key=lambda place: _attempt(place, folder)):
        layout = SessionLayout(folder=place)
        name = _name(layout)
        if name in found:
            found[name] = conclusion.judged(layout)
    return found


def closed(
    found: dict[str, Verdict | str], levels: tuple[Level, ...], fail_on: FailOn
) -> str | None:
    """Return what closes the gate over all trials, the first few by name."""
    decisions = {name: decide(seen, levels, fail_on).closed for name, seen in found.items()}
    reasons = [f"{name}: {why}" for name, why in decisions.items() if why is not None]
    more = f" (and {len(reasons) - 3} more)" if len(reasons) > 3 else ""
    return "; ".join(reasons[:3]) + more if reasons else None


def to_run_again(found: dict[str, Verdict | str]) -> tuple[str, ...]:
    """Return the trials without a verdict."""
    return tuple(name for name, seen in found.items() if isinstance(seen, str))


def durations(found: dict[str, Verdict | str]) -> dict[str, int]:
    """Return how long each agent took on each repository, as `reb plan --durations` reads it."""
    taken: dict[str, int] = {}
    for name, seen in found.items():
        if isinstance(seen, Verdict) and seen.agent_run is not None:
            seconds = seen.agent_run.seconds + seen.agent_run.setup_seconds
            key = name.rpartition(".")[0]
            taken[key] = max(taken.get(key, 0), int(seconds) + 1)
    return taken


def _trials(folder: Path) -> Iterator[Path]:
    # An artifact is a trial's folder, or holds one folder for each trial of a batch.
    for pattern in ("*/session.json", "*/*/session.json"):
        yield from (path.parent for path in folder.glob(pattern))


def _attempt(place: Path, folder: Path) -> tuple[int, str]:
    artifact = place.relative_to(folder).parts[0]
    match = _ATTEMPT.search(artifact)
    return int(match[1]) if match else 0, artifact


def _name(layout: SessionLayout) -> str:
    try:
        return session.load(layout).trial.id
    except RebError:
        return ""
