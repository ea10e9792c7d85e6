"""Compares artifacts with a plan: each trial has a verdict, or a reason for its absence."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from reb_action.corpus import qualification
from reb_action.errors import RebError
from reb_action.judge.gate import FailOn, decide
from reb_action.model.manifest import Level, Manifest
from reb_action.model.plan import Plan
from reb_action.model.verdict import Verdict
from reb_action.session import state, verdict
from reb_action.session.layout import SessionLayout

_ATTEMPT: Final = re.compile(r"\.a(\d{1,4})$")
_ARTIFACT: Final = re.compile(r"(?:reb-)?(.+?)(?:\.a\d{1,4})?")
_ABSENT: Final = "no artifact of this trial was found"
_DEPTH: Final = 8

Found = Mapping[str, Verdict | str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Collected:
    """The trials of a set of artifacts.

    `places` are the folders of the trials. `levels` are those requested for any trial,
    `unqualified` cells by trial id and level. `superseded` counts the artifacts that were replaced
    by a later attempt at the same trial.
    """

    found: Found
    places: Mapping[str, SessionLayout]
    levels: tuple[Level, ...]
    unqualified: frozenset[tuple[str, Level]]
    superseded: int


@dataclass(frozen=True, kw_only=True, slots=True)
class _Place:
    """The folder of a trial. The highest `order` counts: later folders, then later attempts."""

    layout: SessionLayout
    order: tuple[int, int, str]
    trial: str
    manifest: Manifest | None = None
    asked: tuple[Level, ...] = ()


def collect(folders: Sequence[Path], plan: Plan | None = None) -> Collected:
    """Return the verdict of each planned (or present) trial, or the reason for its absence.

    Artifacts are folders, nested at will, with the folders of trials. A name that ends in `.a2`
    belongs to the second attempt of the run. If two artifacts have the same trial, the later
    attempt counts; the later of `folders` counts more. Trials outside the plan are ignored.
    """
    planned = None if plan is None else dict.fromkeys(trial.id for trial in plan.trials)
    places = [
        place
        for place in sorted(_places(folders), key=lambda place: place.order)
        if planned is None or place.trial in planned
    ]
    last = {place.trial: place for place in places}
    judged = {name: verdict.judged(place.layout) for name, place in last.items()}
    return Collected(
        found={
            name: judged.get(name, _ABSENT) for name in (judged if planned is None else planned)
        },
        places={name: place.layout for name, place in last.items()},
        levels=tuple(
            level for level in Level if any(level in place.asked for place in last.values())
        ),
        unqualified=frozenset(_unqualified(last)),
        superseded=len(places) - len(last),
    )


def explain_failure(found: Found, levels: tuple[Level, ...], fail_on: FailOn) -> str | None:
    """Return why --fail-on fails the run, with the first three trials by name, or None."""
    decisions = {name: decide(result, levels, fail_on).closed for name, result in found.items()}
    reasons = [f"{name}: {why}" for name, why in decisions.items() if why is not None]
    others = f" (and {len(reasons) - 3} more)" if len(reasons) > 3 else ""
    return "; ".join(reasons[:3]) + others if reasons else None


def measure_durations(found: Found) -> dict[str, int]:
    """Return the seconds of each agent on each repository, for `reb plan --durations`."""
    durations: dict[str, int] = {}
    for name, result in found.items():
        if isinstance(result, Verdict) and result.agent_run is not None:
            seconds = result.agent_run.seconds + result.agent_run.setup_seconds
            key = name.rpartition(".")[0]
            durations[key] = max(durations.get(key, 0), int(seconds) + 1)
    return durations


def _places(folders: Sequence[Path]) -> Iterator[_Place]:
    for number, folder in enumerate(folders):
        for path in _trials(folder):
            parts = (folder.name, *path.relative_to(folder).parts)
            attempts = [int(match[1]) for part in parts if (match := _ATTEMPT.search(part))]
            order = number, attempts[-1] if attempts else 0, str(path)
            yield _place(SessionLayout(folder=path), order)


def _trials(folder: Path) -> Iterator[Path]:
    if not folder.is_dir():
        return
    for name, below, files in os.walk(folder, onerror=_raise):
        path = Path(name)
        is_trial = "session.json" in files or "verdict.json" in files
        if is_trial:
            yield path
        # A trial's folder contains no other trial, and its scratch `work` is never uploaded.
        deep = len(path.relative_to(folder).parts) >= _DEPTH
        below[:] = [] if is_trial or deep else sorted(set(below) - {"work"})


def _raise(error: OSError) -> None:
    raise error


def _place(layout: SessionLayout, order: tuple[int, int, str]) -> _Place:
    """Return the place of a trial, named by its folder if its session cannot be read."""
    try:
        session = state.load(layout)
    except RebError:
        match = _ARTIFACT.fullmatch(layout.folder.absolute().name)
        return _Place(layout=layout, order=order, trial=match[1] if match else "")
    return _Place(
        layout=layout,
        order=order,
        trial=session.trial.id,
        manifest=session.trial.manifest,
        asked=session.levels,
    )


def _unqualified(places: Mapping[str, _Place]) -> Iterator[tuple[str, Level]]:
    known: dict[str, tuple[Manifest, frozenset[Level]]] = {}
    for name, place in places.items():
        if place.manifest is None:
            continue
        manifest, levels = known.get(place.manifest.repository, (None, frozenset[Level]()))
        if manifest != place.manifest:
            levels = qualification.unqualified(place.manifest)
            known[place.manifest.repository] = (place.manifest, levels)
        yield from ((name, level) for level in levels)
