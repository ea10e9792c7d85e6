"""Compares artifacts with a plan: each trial has a verdict, or a reason for its absence."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from reb_action.corpus import qualification
from reb_action.judge.gate import FailOn, decide
from reb_action.model.manifest import Level, Manifest
from reb_action.model.plan import EarlyStop, Plan
from reb_action.model.verdict import Verdict
from reb_action.results.early_stop import join_stops, read_stops
from reb_action.results.places import Place, find_places, tell_contestants_apart
from reb_action.session import verdict
from reb_action.session.layout import SessionLayout

_ABSENT: Final = "no artifact of this trial was found"

Found = Mapping[str, Verdict | str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Collected:
    """The trials of a set of artifacts.

    `places` are the folders of the trials. `levels` are those requested for any trial,
    `unqualified` cells by trial id and level. `superseded` counts the artifacts that were replaced
    by a later attempt at the same trial. `stop` says which planned trials were left out because
    they could not change the answer of `fail-on`; they are neither found nor missing.
    """

    found: Found
    places: Mapping[str, SessionLayout]
    levels: tuple[Level, ...]
    unqualified: frozenset[tuple[str, Level]]
    superseded: int
    stop: EarlyStop | None = None


def collect(folders: Sequence[Path], plan: Plan | None = None) -> Collected:
    """Return the verdict of each planned (or present) trial, or the reason for its absence.

    Artifacts are folders, nested at will, with the folders of trials. A name that ends in `.a2`
    belongs to the second attempt of the run. Of several artifacts of a trial the latest one counts
    in which every requested level was measured, whatever the result; without such a one,
    the latest with a verdict; else the latest. Later `folders` come after earlier ones. Trials
    outside the plan are ignored.
    Contestants with one id and different definitions stay apart: their ids get their digests.
    """
    planned = None if plan is None else dict.fromkeys(trial.id for trial in plan.trials)
    places = [
        place
        for place in sorted(find_places(folders), key=lambda place: place.order)
        if planned is None or place.trial in planned
    ]
    if plan is None:
        places = tell_contestants_apart(places)
    every: defaultdict[str, list[Place]] = defaultdict(list)
    for place in places:
        every[place.trial].append(place)
    chosen = {name: _choose(of_trial) for name, of_trial in every.items()}
    last = {name: place for name, (place, _) in chosen.items()}
    judged = {name: result for name, (_, result) in chosen.items()}
    stop = join_stops(tuple(read_stops(folders)))
    left_out = frozenset[str]() if stop is None else frozenset(stop.skipped) - set(judged)
    wanted = judged if planned is None else (name for name in planned if name not in left_out)
    return Collected(
        found={name: judged.get(name, _ABSENT) for name in wanted},
        stop=stop if left_out else None,
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


def _choose(places: Sequence[Place]) -> tuple[Place, Verdict | str]:
    """Return the artifact of a trial that counts, and its result; `places` are in their order.

    A re-run that was killed, or that a runner spoiled, does not replace a finished trial.
    """
    latest = [(place, _judged(place)) for place in places[-1:]]
    if _is_complete(*latest[0]) or len(places) == 1:
        return latest[0]
    judged = [(place, _judged(place)) for place in reversed(places)]
    complete = (item for item in judged if _is_complete(*item))
    with_verdict = (item for item in judged if isinstance(item[1], Verdict))
    return next(complete, None) or next(with_verdict, judged[0])


def _is_complete(place: Place, result: Verdict | str) -> bool:
    return decide(result, place.asked, FailOn(invalid=True)).closed is None


def _judged(place: Place) -> Verdict | str:
    """Return the verdict of a folder under the folder's trial id, or a reason."""
    result = verdict.judged(place.layout)
    if isinstance(result, str) or result.trial == place.trial:
        return result
    return replace(result, trial=place.trial, contestant=place.contestant)


def _unqualified(places: Mapping[str, Place]) -> Iterator[tuple[str, Level]]:
    known: dict[str, tuple[Manifest, frozenset[Level]]] = {}
    for name, place in places.items():
        if place.manifest is None:
            continue
        manifest, levels = known.get(place.manifest.repository, (None, frozenset[Level]()))
        if manifest != place.manifest:
            levels = qualification.unqualified(place.manifest)
            known[place.manifest.repository] = (place.manifest, levels)
        yield from ((name, level) for level in levels)
