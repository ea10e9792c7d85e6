"""Two contestants, or two runs of one, compared repository by repository."""

from dataclasses import dataclass
from enum import StrEnum

from reb_action.model.manifest import Level


class Finding(StrEnum):
    """The finding of a comparison of B with A, at 5 % for all levels together.

    `incomplete`: there is no finding, and trials are missing or invalid.
    """

    BETTER = "better"
    WORSE = "worse"
    MIXED = "mixed"
    NO_DIFFERENCE = "no_difference"
    INCOMPLETE = "incomplete"


class Regression(StrEnum):
    """What fails a run that is compared with its base.

    `regression`: a contestant under test that is worse at a level, beyond chance. `broken`: a cell
    of which every attempt passed in the base and none passes now.
    """

    SHOWN = "regression"
    BROKEN = "broken"


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempts:
    """Attempts at one repository that passed, of those that count."""

    passed: int
    counted: int


@dataclass(frozen=True, kw_only=True, slots=True)
class RepositoryPair:
    """One repository at one level: the attempts of A and those of B."""

    repository: str
    a: Attempts
    b: Attempts


@dataclass(frozen=True, kw_only=True, slots=True)
class LevelComparison:
    """One level over the repositories that count on both sides; `unpaired` is how many do not.

    Shares and differences are from 0 to 1, each repository has the same weight, and `difference` is
    B less A. `interval` is a 95 % bootstrap over repositories. `p` is the exact paired test over
    repositories, `adjusted` Holm's over all levels; None where no repository differs. `detectable`
    is the smallest difference that would be found with 80 % probability, with the 5 % divided among
    the levels; None: none would. `repositories_needed` and `attempts_needed` (for each repository)
    would find the observed difference; None if that is unknown, or if no number is enough.
    """

    level: Level
    pairs: tuple[RepositoryPair, ...]
    unpaired: int
    a: float
    b: float
    difference: float
    interval: tuple[float, float] | None
    higher: int
    lower: int
    p: float | None
    adjusted: float | None
    detectable: float | None
    repositories_needed: int | None
    attempts_needed: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Lift:
    """How far B is above a contestant without a model at one level; see LevelComparison."""

    baseline: str
    level: Level
    difference: float
    p: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class ContestantComparison:
    """B against A; `unseen` are the trials of either without a valid verdict."""

    a: str
    b: str
    finding: Finding
    levels: tuple[LevelComparison, ...]
    lifts: tuple[Lift, ...]
    unseen: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparisons:
    """All comparisons of one call of `reb compare`, by one scoring."""

    scoring: str
    comparisons: tuple[ContestantComparison, ...]
