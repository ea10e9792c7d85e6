"""What qualifies a cell of the corpus: seen to pass where it must, and to fail elsewhere."""

from dataclasses import dataclass

from reb_action.model.limits import Limits
from reb_action.model.manifest import Level, Outcome


@dataclass(frozen=True, kw_only=True, slots=True)
class Control:
    """One environment, and what the level came to in it."""

    environment: str
    outcome: Outcome
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Qualification:
    """One cell (a repository's level): its positive control and its sabotaged environments.

    `run` is the SHA-256 of what was run (see `corpus`), `framework` the version that the
    positive control's interpreter named, `hardware` the machine, `date` the day (ISO 8601).
    `left_out` are files of the commit that the checkout lacked, none of which the level reads.
    `limits` are those of the container in which the positive control passed, None where there were
    none, as in a local sandbox, and in records of before they were kept.
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
