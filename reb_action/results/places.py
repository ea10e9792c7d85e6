"""Finds the folders of trials in folders of artifacts, and tells their contestants apart."""

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from reb_action.errors import RebError
from reb_action.model.contestant import Contestant, default_id
from reb_action.model.manifest import Level, Manifest, contestant_of, trial_id
from reb_action.session import state
from reb_action.session.layout import SessionLayout
from reb_action.session.state import Session

_ATTEMPT: Final = re.compile(r"\.a(\d{1,4})$")
_ARTIFACT: Final = re.compile(r"(?:reb-|reb\.[a-z0-9-]{1,40}\.)?(.+?)(?:\.a\d{1,4})?")
_DEPTH: Final = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """The folder of a trial. The highest `order` counts: later folders, then later attempts.

    Trials of older releases have no `contestant`; their `model` tells them apart.
    """

    layout: SessionLayout
    order: tuple[int, int, str]
    trial: str
    contestant: Contestant | None = None
    model: str | None = None
    manifest: Manifest | None = None
    asked: tuple[Level, ...] = ()


def find_places(folders: Sequence[Path]) -> Iterator[Place]:
    """Yield the folder of each trial; the order of an artifact's attempt is in its name."""
    for number, folder in enumerate(folders):
        for path in _trials(folder):
            parts = (folder.name, *path.relative_to(folder).parts)
            attempts = [int(match[1]) for part in parts if (match := _ATTEMPT.search(part))]
            order = number, attempts[-1] if attempts else 0, str(path)
            yield _place(SessionLayout(folder=path), order)


def tell_contestants_apart(places: Iterable[Place]) -> list[Place]:
    """Return the places, with other names if one id means several contestants.

    An id of several definitions gets their digests. An agent of an older release that was run with
    several models gets the default ids of these pairs.
    """
    renamed = _rename(places, lambda place: place.model or "", _name_by_model)
    return _rename(renamed, _digest, _name_by_digest)


def _rename(
    places: Iterable[Place], mark: Callable[[Place], str], rename: Callable[[Place], Place]
) -> list[Place]:
    """Rename the places whose contestant's id has several marks; "" is an unknown mark."""
    every = list(places)
    marks: defaultdict[str, set[str]] = defaultdict(set)
    for place in every:
        marks[contestant_of(place.trial)].update({mark(place)} - {""})
    return [
        rename(place) if mark(place) and len(marks[contestant_of(place.trial)]) > 1 else place
        for place in every
    ]


def _name_by_model(place: Place) -> Place:
    if place.contestant is not None:
        return place
    contestant = Contestant(id=default_id(contestant_of(place.trial), place.model), digest="")
    return _named(place, contestant)


def _name_by_digest(place: Place) -> Place:
    known = place.contestant
    if known is None or not known.digest:
        return place
    return _named(place, replace(known, id=f"{known.id}@{known.short_digest}"))


def _named(place: Place, contestant: Contestant) -> Place:
    slug, _, attempt = place.trial.rsplit(".", 2)
    trial = trial_id(slug, contestant.id, int(attempt))
    return replace(place, trial=trial, contestant=contestant)


def _digest(place: Place) -> str:
    return "" if place.contestant is None else place.contestant.digest


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


def _place(layout: SessionLayout, order: tuple[int, int, str]) -> Place:
    """Return the place of a trial, named by its folder if its session cannot be read."""
    try:
        session = state.load(layout)
    except RebError:
        match = _ARTIFACT.fullmatch(layout.folder.absolute().name)
        return Place(layout=layout, order=order, trial=match[1] if match else "")
    return Place(
        layout=layout,
        order=order,
        trial=session.trial.id,
        contestant=session.trial.contestant,
        model=_model(session),
        manifest=session.trial.manifest,
        asked=session.levels,
    )


def _model(session: Session) -> str | None:
    return None if session.agent.model is None else session.agent.model.name
