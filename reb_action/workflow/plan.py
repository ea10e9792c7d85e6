"""Generates the job matrix: wishes times attempts, filtered, checked, distributed over jobs."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import groupby
from typing import Final

from reb_action.errors import UsageError
from reb_action.model.manifest import trial_id
from reb_action.model.plan import Entry, Plan, PlannedTrial, Wish

MATRIX_LIMIT: Final = 256
"""Maximum jobs of one matrix: GitHub's documentation, "Workflow syntax", strategy.matrix."""

TRIALS_LIMIT: Final = 5000

# Names of folders, jobs and artifacts; GitHub forbids " : < > | * ? \r \n \ / in the latter.
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,119}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Selection:
    """The trials to keep: patterns with `*` on their ids, and changed paths."""

    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    changed: frozenset[str] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Batching:
    """How trials become jobs; `durations` maps `<slug>.<agent>` to its earlier seconds."""

    jobs: int = MATRIX_LIMIT
    default_seconds: int = 3600
    durations: Mapping[str, int] = field(default_factory=dict[str, int])


def make_plan(
    wishes: Iterable[Wish], *, attempts: int, selection: Selection, batching: Batching
) -> Plan:
    """Return the plan; raises UsageError if it could not run.

    The plan has no entries only if no changed file belongs to a trial.
    """
    trials = [
        _plan_trial(wish, n) for wish in _changed(wishes, selection) for n in range(1, attempts + 1)
    ]
    kept = tuple(trial for trial in trials if _is_selected(trial.id, selection))
    if not kept and (trials or selection.changed is None):
        raise UsageError("the plan has no trial; check repositories, agents, only and without")
    _demand_names(kept)
    return Plan(entries=tuple(_distribute(kept, batching)))


def _changed(wishes: Iterable[Wish], selection: Selection) -> tuple[Wish, ...]:
    changed = selection.changed
    return tuple(wish for wish in wishes if changed is None or changed & set(wish.files))


def _plan_trial(wish: Wish, attempt: int) -> PlannedTrial:
    return PlannedTrial(
        id=trial_id(wish.slug, wish.contestant, attempt),
        repository=wish.repository,
        agent=wish.agent,
        argument=wish.argument,
        attempt=attempt,
    )


def _is_selected(name: str, selection: Selection) -> bool:
    only, without = selection.only, selection.without
    included = not only or any(fnmatchcase(name, pattern) for pattern in only)
    return included and not any(fnmatchcase(name, pattern) for pattern in without)


def _demand_names(trials: tuple[PlannedTrial, ...]) -> None:
    if len(trials) > TRIALS_LIMIT:
        raise UsageError(f"the plan has {len(trials)} trials; the maximum is {TRIALS_LIMIT}")
    for trial in trials:
        if not _NAME.fullmatch(trial.id):
            raise UsageError(
                f"{trial.id!r} cannot name a job and an artifact; use letters, digits, . _ -"
            )
    # Windows and macOS ignore case: such artifacts would unpack into the same folder.
    for name, group in groupby(sorted(trial.id.lower() for trial in trials)):
        if len(tuple(group)) > 1:
            raise UsageError(
                f"the plan has the trial {name} twice; give each contestant a different id"
            )


def _distribute(trials: tuple[PlannedTrial, ...], batching: Batching) -> Iterator[Entry]:
    timed = sorted(((_seconds(trial, batching), trial) for trial in trials), key=_longest_first)
    if len(timed) <= batching.jobs:
        for seconds, trial in timed:
            yield Entry(name=trial.id, trials=(trial,), seconds=seconds)
        return
    batches: list[list[PlannedTrial]] = [[] for _ in range(batching.jobs)]
    loads = [0] * batching.jobs
    for seconds, trial in timed:
        # Longest first, to the batch with the least load: at most 4/3 of the optimum (Graham 1969).
        least = loads.index(min(loads))
        batches[least].append(trial)
        loads[least] += seconds
    for number, (batch, load) in enumerate(zip(batches, loads, strict=True), 1):
        yield Entry(name=f"batch-{number:03}", trials=tuple(batch), seconds=load)


def _seconds(trial: PlannedTrial, batching: Batching) -> int:
    return batching.durations.get(trial.id.rpartition(".")[0], batching.default_seconds)


def _longest_first(timed: tuple[int, PlannedTrial]) -> tuple[int, str]:
    return -timed[0], timed[1].id
