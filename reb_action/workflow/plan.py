"""Makes the matrix: wishes times attempts, filtered, refused if GitHub would, dealt out to jobs."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import groupby
from typing import Final

from reb_action.errors import UsageError
from reb_action.model.plan import Entry, Plan, PlannedTrial, Wish

MATRIX_LIMIT: Final = 256
"""Most jobs of one matrix: GitHub's documentation, "Workflow syntax", strategy.matrix."""

TRIALS_LIMIT: Final = 5000

# Names of folders, jobs and artifacts; GitHub forbids " : < > | * ? \r \n \ / in the latter.
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,119}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Selection:
    """Which of the trials to keep: patterns with `*` on their ids, and paths that changed."""

    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    changed: frozenset[str] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Dealing:
    """How trials become jobs; `durations` maps `<slug>.<agent>` to the seconds it took before."""

    jobs: int = MATRIX_LIMIT
    default_seconds: int = 3600
    durations: Mapping[str, int] = field(default_factory=dict[str, int])


def make(wishes: Iterable[Wish], *, attempts: int, selection: Selection, dealing: Dealing) -> Plan:
    """Return the plan; raises UsageError for one that cannot run, naming what to change.

    A plan without entries is returned only where nothing that changed touches a trial.
    """
    found = [
        _planned(wish, n) for wish in _touched(wishes, selection) for n in range(1, attempts + 1)
    ]
    kept = tuple(trial for trial in found if _wanted(trial.id, selection))
    if not kept and (found or selection.changed is None):
        raise UsageError("the plan has no trial; check repositories, agents, only and without")
    _demand_names(kept)
    return Plan(entries=tuple(_deal(kept, dealing)))


def _touched(wishes: Iterable[Wish], selection: Selection) -> tuple[Wish, ...]:
    changed = selection.changed
    return tuple(wish for wish in wishes if changed is None or changed & set(wish.files))


def _planned(wish: Wish, attempt: int) -> PlannedTrial:
    return PlannedTrial(
        id=f"{wish.slug}.{wish.agent_name}.{attempt}",
        repository=wish.repository,
        agent=wish.agent,
        argument=wish.argument,
        attempt=attempt,
    )


def _wanted(name: str, selection: Selection) -> bool:
    only, without = selection.only, selection.without
    chosen = not only or any(fnmatchcase(name, pattern) for pattern in only)
    return chosen and not any(fnmatchcase(name, pattern) for pattern in without)


def _demand_names(trials: tuple[PlannedTrial, ...]) -> None:
    if len(trials) > TRIALS_LIMIT:
        raise UsageError(f"the plan has {len(trials)} trials; at most {TRIALS_LIMIT} fit in a run")
    for trial in trials:
        if not _NAME.fullmatch(trial.id):
            raise UsageError(
                f"{trial.id!r} cannot name a job and an artifact; use letters, digits, . _ -"
            )
    # Windows and macOS unpack artifacts of one spelling into one folder.
    for name, group in groupby(sorted(trial.id.lower() for trial in trials)):
        if len(tuple(group)) > 1:
            raise UsageError(f"the plan has the trial {name} twice; name each agent differently")


def _deal(trials: tuple[PlannedTrial, ...], dealing: Dealing) -> Iterator[Entry]:
    timed = sorted(((_seconds(trial, dealing), trial) for trial in trials), key=_longest_first)
    if len(timed) <= dealing.jobs:
        for seconds, trial in timed:
            yield Entry(name=trial.id, trials=(trial,), seconds=seconds)
        return
    hands: list[list[PlannedTrial]] = [[] for _ in range(dealing.jobs)]
    loads = [0] * dealing.jobs
    for seconds, trial in timed:
        # Always to whoever has least so far: at most 4/3 of the best possible (Graham 1969).
        least = loads.index(min(loads))
        hands[least].append(trial)
        loads[least] += seconds
    for number, (hand, load) in enumerate(zip(hands, loads, strict=True), 1):
        yield Entry(name=f"batch-{number:03}", trials=tuple(hand), seconds=load)


def _seconds(trial: PlannedTrial, dealing: Dealing) -> int:
    return dealing.durations.get(trial.id.rpartition(".")[0], dealing.default_seconds)


def _longest_first(timed: tuple[int, PlannedTrial]) -> tuple[int, str]:
    return -timed[0], timed[1].id
