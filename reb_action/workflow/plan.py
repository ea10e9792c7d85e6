"""Generates the job matrix: trials are filtered, checked and distributed over jobs."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import groupby
from typing import Final

from reb_action.errors import UsageError
from reb_action.model.manifest import trial_id
from reb_action.model.plan import Plan, PlannedContestant, PlannedTrial, Wish
from reb_action.workflow.matrix import Batching, Timed, distribute, expect_seconds

# Names of folders, jobs and artifacts; GitHub forbids " : < > | * ? \r \n \ / in the latter.
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,149}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Selection:
    """The trials to keep: patterns with `*` on their ids, and changed paths."""

    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    changed: frozenset[str] | None = None


def make_plan(
    wishes: Iterable[Wish],
    *,
    attempts: int,
    selection: Selection,
    batching: Batching,
    contestants: tuple[PlannedContestant, ...] = (),
) -> Plan:
    """Return the plan; raises UsageError if it could not run.

    The plan has no entries only if no changed file belongs to a trial.
    """
    wanted = tuple(
        (wish, _plan_trial(wish, number))
        for wish in _changed(wishes, selection)
        for number in range(1, attempts + 1)
    )
    kept = [(wish, trial) for wish, trial in wanted if _is_selected(trial.id, selection)]
    if not kept and (wanted or selection.changed is None):
        raise UsageError("the plan has no trial; check repositories, agents, only and without")
    _demand_names(tuple(trial for _, trial in kept))
    timed = (
        Timed(
            trial=trial,
            key=wish.key,
            expected=expect_seconds(trial, wish.longest_seconds, batching),
            longest=wish.longest_seconds,
        )
        for wish, trial in kept
    )
    return Plan(entries=distribute(timed, batching), contestants=contestants)


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
        contestant=wish.contestant,
    )


def _is_selected(name: str, selection: Selection) -> bool:
    only, without = selection.only, selection.without
    included = not only or any(fnmatchcase(name, pattern) for pattern in only)
    return included and not any(fnmatchcase(name, pattern) for pattern in without)


def _demand_names(trials: tuple[PlannedTrial, ...]) -> None:
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
