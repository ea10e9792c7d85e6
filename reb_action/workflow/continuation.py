"""Finds trials that are finished, so that a batch that runs again continues with the rest."""

import shutil
from collections.abc import Mapping
from pathlib import Path

from reb_action.errors import RebError, UsageError
from reb_action.judge.gate import FailOn, decide
from reb_action.model.contestant import Contestant
from reb_action.model.manifest import Level
from reb_action.model.verdict import Verdict
from reb_action.results.places import Place, find_places
from reb_action.session import state, verdict
from reb_action.session.layout import SessionLayout
from reb_action.session.state import Phase
from reb_action.trial.leftovers import remove_sandbox

_ANY_INVALID = FailOn(invalid=True)


def find_sealed(folder: Path, contestant: Contestant, levels: tuple[Level, ...]) -> Verdict | None:
    """Return the verdict of a finished trial, None if it has to run (again).

    A trial is finished if it was stopped, its verdict is unchanged, and no requested level is
    invalid. Raises UsageError if the folder has a trial of another definition.
    """
    layout = SessionLayout(folder=folder)
    if not layout.session.is_file():
        return None
    try:
        begun = state.load(layout)
    except RebError:
        return None
    known = begun.trial.contestant
    if known is not None and known.digest != contestant.digest:
        raise UsageError(
            f"{folder} has a trial of another definition of {known.id} ({known.short_digest}, now"
            f" {contestant.short_digest}); choose another --results, or give it another id"
        )
    judged = verdict.judged(layout) if begun.phase is Phase.STOPPED else None
    if not isinstance(judged, Verdict) or set(levels) - set(begun.levels):
        return None
    return judged if decide(judged, levels, _ANY_INVALID).closed is None else None


def clear_unfinished(folder: Path) -> bool:
    """Remove a trial that is not finished, and its sandbox; return whether there was one.

    Raises UsageError if it still runs.
    """
    layout = SessionLayout(folder=folder)
    if not folder.exists():
        return False
    if layout.session.is_file() and layout.session.stat().st_size:
        begun = state.load(layout)
        if state.goes_on(begun):
            raise UsageError(f"a trial still runs in {folder}; wait for its end, or stop it")
        remove_sandbox(begun.spec)
    shutil.rmtree(folder)
    return True


def restore_earlier(earlier: Path, wanted: Mapping[str, Path]) -> tuple[str, ...]:
    """Copy the folders of trials from artifacts of earlier attempts; return the trials' ids.

    Of several artifacts of a trial the latest attempt is kept, unless it has no verdict.
    """
    found: dict[str, Place] = {}
    for place in sorted(find_places((earlier,)), key=lambda place: place.order):
        if place.trial in wanted and isinstance(verdict.judged(place.layout), Verdict):
            found[place.trial] = place
    for name, place in found.items():
        if not wanted[name].exists():
            shutil.copytree(place.layout.folder, wanted[name])
    return tuple(found)
