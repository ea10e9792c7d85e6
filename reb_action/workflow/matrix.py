"""Distributes trials over the jobs of a matrix: by vendor's key, by time, the longest first."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from itertools import groupby
from typing import Final

from reb_action.errors import UsageError
from reb_action.model.plan import Entry, PlannedTrial
from reb_action.model.quantity import count
from reb_action.workflow.deadline import RESERVE_SECONDS
from reb_action.workflow.platform_limits import MATRIX_LIMIT

_SPREAD: Final = 1.25
_SETUP_SECONDS: Final = 300


@dataclass(frozen=True, kw_only=True, slots=True)
class Batching:
    """How trials become jobs.

    `durations` maps `<slug>.<contestant>` to the seconds that the agent took before. `job_seconds`
    is the time limit of a job, None if it is not known. `together`: the attempts of a contestant at
    a repository share a job, which may then leave out the last ones.
    """

    jobs: int = MATRIX_LIMIT
    job_seconds: int | None = None
    durations: Mapping[str, int] = field(default_factory=dict[str, int])
    together: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Timed:
    """A trial, its key, and its time in seconds: expected, and at most."""

    trial: PlannedTrial
    key: str
    expected: int
    longest: int


@dataclass(slots=True)
class _Batch:
    """The trials of one job so far."""

    trials: list[Timed] = field(default_factory=list[Timed])
    load: int = 0


def expect_seconds(trial: PlannedTrial, longest: int, batching: Batching) -> int:
    """Return the time that a trial will take: as before with a reserve, else the longest."""
    known = batching.durations.get(trial.id.rpartition(".")[0])
    return longest if known is None else min(longest, int(known * _SPREAD) + _SETUP_SECONDS)


def distribute(timed: Iterable[Timed], batching: Batching) -> tuple[Entry, ...]:
    """Return the entries of a matrix; raises UsageError, with figures, if the trials do not fit."""
    if batching.together:
        return tuple(_distribute_groups(timed, replace(batching, together=False)))
    ordered = sorted(timed, key=lambda one: (-one.expected, one.trial.id))
    _demand_job_time(ordered, batching)
    if len(ordered) <= batching.jobs:
        return tuple(
            Entry(name=one.trial.id, trials=(one.trial,), seconds=one.expected, key=one.key)
            for one in ordered
        )
    batches = sorted(_batches(ordered, batching), key=lambda batch: -batch.load)
    return tuple(
        Entry(
            name=f"batch-{number:03}",
            trials=tuple(one.trial for one in batch.trials),
            seconds=batch.load,
            key=batch.trials[0].key,
        )
        for number, batch in enumerate(batches, 1)
    )


def _distribute_groups(timed: Iterable[Timed], batching: Batching) -> Iterator[Entry]:
    """Yield entries in which all attempts of a contestant at a repository are in one job."""
    groups: dict[str, list[Timed]] = {}
    for one in timed:
        groups.setdefault(one.trial.id.rpartition(".")[0], []).append(one)
    whole = (
        replace(
            group[0],
            expected=sum(one.expected for one in group),
            longest=sum(one.longest for one in group),
        )
        for group in groups.values()
    )
    for entry in distribute(whole, batching):
        names = [trial.id.rpartition(".")[0] for trial in entry.trials]
        trials = tuple(one.trial for name in names for one in groups[name])
        single = len(names) == 1 and len(trials) > 1
        yield replace(entry, name=names[0] if single else entry.name, trials=trials)


def _batches(ordered: list[Timed], batching: Batching) -> Iterator[_Batch]:
    groups = {
        key: list(group)
        for key, group in groupby(sorted(ordered, key=lambda one: one.key), lambda one: one.key)
    }
    needed = {key: _count_jobs(group, batching.job_seconds) for key, group in groups.items()}
    if sum(needed.values()) > batching.jobs:
        minutes = (batching.job_seconds or 0) // 60
        raise UsageError(
            f"{count(len(ordered), 'trial')} need {count(sum(needed.values()), 'job')} of"
            f" {count(minutes, 'minute')}, and"
            f" there may be {batching.jobs}; give durations of an earlier report, raise"
            " job-minutes or max-jobs, or split the run with only"
        )
    shares = _share_jobs(groups, needed, batching.jobs)
    for key, group in groups.items():
        batches = _fill(group, shares[key])
        # In rare cases more jobs are not better for the last trial of a batch.
        fits = batching.job_seconds is None or _fits(batches, batching.job_seconds)
        yield from batches if fits else _fill(group, needed[key])


def _count_jobs(group: list[Timed], job_seconds: int | None) -> int:
    """Return the least number of jobs in which every trial begins early enough to end."""
    if job_seconds is None:
        return 1
    count = 1 + sum(one.expected for one in group) // job_seconds
    while count < len(group) and not _fits(_fill(group, count), job_seconds):
        count += max(1, count // 32)
    return min(count, len(group))


def _share_jobs(
    groups: Mapping[str, list[Timed]], needed: Mapping[str, int], jobs: int
) -> dict[str, int]:
    """Give each key the jobs that it needs, and the other jobs to the keys with the most work."""
    shares = dict(needed)
    loads = {key: sum(one.expected for one in group) for key, group in groups.items()}
    for _ in range(jobs - sum(needed.values())):
        growing = [key for key in groups if shares[key] < len(groups[key])]
        if growing:
            shares[max(growing, key=lambda key: loads[key] / shares[key])] += 1
    return shares


def _fill(group: list[Timed], jobs: int) -> list[_Batch]:
    """Put each trial, the longest first, into the batch with the least load.

    That is at most 4/3 of the optimum (Graham 1969).
    """
    heap = [(0, number) for number in range(jobs)]
    batches = [_Batch() for _ in range(jobs)]
    for one in group:
        load, number = heappop(heap)
        batches[number].trials.append(one)
        batches[number].load = load + one.expected
        heappush(heap, (batches[number].load, number))
    return [batch for batch in batches if batch.trials]


def _fits(batches: Iterable[_Batch], job_seconds: int) -> bool:
    """Return whether in each batch the last trial, at its longest, ends before its job."""
    for batch in batches:
        begin = 0
        for one in batch.trials:
            if begin + one.longest + RESERVE_SECONDS > job_seconds:
                return False
            begin += one.expected
    return True


def _demand_job_time(ordered: list[Timed], batching: Batching) -> None:
    if batching.job_seconds is None:
        return
    for one in ordered:
        if one.longest + RESERVE_SECONDS > batching.job_seconds:
            raise UsageError(
                f"{one.trial.id} may take {-(-(one.longest + RESERVE_SECONDS) // 60)} minutes, and"
                f" a job has {batching.job_seconds // 60}; raise job-minutes, or lower"
                " agent-seconds"
            )
