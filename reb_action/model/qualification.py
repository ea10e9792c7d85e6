"""The qualification of a cell: it passed in a correct environment and failed in wrong ones."""

from dataclasses import dataclass

from reb_action.model.limits import Limits
from reb_action.model.manifest import Level, Outcome


@dataclass(frozen=True, kw_only=True, slots=True)
class Control:
    """One environment, and the outcome of the level in it."""

    environment: str
    outcome: Outcome
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Qualification:
    """One cell (a repository's level): its positive control and its sabotaged environments.

    `run` is the SHA-256 of the command and its inputs (see `corpus`), `framework` the version
    reported by the positive control's interpreter, `hardware` the machine, `date` the day (ISO
    8601). `left_out` are files of the commit that the checkout lacked; the level reads none of
    them. `limits` are those of the container in which the positive control passed; None if there
    were none, as in a local sandbox, and in older records.
    """

    repository: str
    commit: str
    level: Level
    run: str
    date: str
    hardware: str
    framework: str
    positive: Control
    negatives: tuple[Control, ...]
    left_out: tuple[str, ...] = ()
    limits: Limits | None = None
