"""Holds artifacts against a plan: each trial has a verdict, or a reason why it has none."""

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
_ABSENT: Final = "no artifact of this trial came back"
_DEPTH: Final = 8

Found = Mapping[str, Verdict | str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Collected:
    """What artifacts say of trials.

    `places` are the folders of the trials that were found. `levels` are those that any trial was
    asked for, `unqualified` cells by trial id and level; `superseded` artifacts gave way to a later
    attempt at the same trial.
    """

    found: Found
    places: Mapping[str, SessionLayout]
    levels: tuple[Level, ...]
    unqualified: frozenset[tuple[str, Level]]
    superseded: int


@dataclass(frozen=True, kw_only=True, slots=True)
class _Place:
    """The folder of a trial; `order` puts what counts last: later folders, then attempts."""

    layout: SessionLayout
    order: tuple[int, int, str]
    trial: str
    manifest: Manifest | None = None
    asked: tuple[Level, ...] = ()


def collect(folders: Sequence[Path], plan: Plan | None = None) -> Collected:
    """Return, for each trial that is planned or else found, its verdict or why there is none.

    Artifacts are folders, however nested, that hold the folders of trials; one that ends in `.a2`
    is of the second attempt of the run. Of two with one trial the later attempt counts, and of two
    `folders` the later one. What a plan did not ask for is ignored.
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
        levels=tuple(level for level in Level if any(level in one.asked for one in last.values())),
        unqualified=frozenset(_unqualified(last)),
        superseded=len(places) - len(last),
    )


def closed(found: Found, levels: tuple[Level, ...], fail_on: FailOn) -> str | None:
    """Return what closes the gate over all trials, the first few by name."""
    decisions = {name: decide(seen, levels, fail_on).closed for name, seen in found.items()}
    reasons = [f"{name}: {why}" for name, why in decisions.items() if why is not None]
    more = f" (and {len(reasons) - 3} more)" if len(reasons) > 3 else ""
    return "; ".join(reasons[:3]) + more if reasons else None


def durations(found: Found) -> dict[str, int]:
    """Return how long each agent took on each repository, as `reb plan --durations` reads it."""
    taken: dict[str, int] = {}
    for name, seen in found.items():
        if isinstance(seen, Verdict) and seen.agent_run is not None:
            seconds = seen.agent_run.seconds + seen.agent_run.setup_seconds
            key = name.rpartition(".")[0]
            taken[key] = max(taken.get(key, 0), int(seconds) + 1)
    return taken


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
        # A trial's own folder has none below it, and its scratch is never an artifact.
        deep = len(path.relative_to(folder).parts) >= _DEPTH
        below[:] = [] if is_trial or deep else sorted(set(below) - {"work"})


def _raise(error: OSError) -> None:
    raise error


def _place(layout: SessionLayout, order: tuple[int, int, str]) -> _Place:
    """Return a place by what its session says, or by its folder's name if that cannot be read."""
    try:
        begun = state.load(layout)
    except RebError:
        match = _ARTIFACT.fullmatch(layout.folder.absolute().name)
        return _Place(layout=layout, order=order, trial=match[1] if match else "")
    return _Place(
        layout=layout,
        order=order,
        trial=begun.trial.id,
        manifest=begun.trial.manifest,
        asked=begun.levels,
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
