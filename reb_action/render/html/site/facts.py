"""Facts about a board's trials besides their results: domain, date and run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from reb_action.model.manifest import Level
from reb_action.model.record import Passed


@dataclass(frozen=True, kw_only=True, slots=True)
class TrialFacts:
    """The domain of a trial's manifest, and its run: the date (ISO 8601), address and number.

    Each is "" where it is not known. `follows_checkout`: the manifest says `commit: self`.
    """

    domain: str = ""
    date: str = ""
    url: str = ""
    run: str = ""
    follows_checkout: bool = False

    @property
    def link(self) -> str | None:
        """The address of the run, if it is one that a page may link to."""
        return self.url if self.url.startswith(("https://", "http://")) else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Publication:
    """One publication of a contestant: its run, and the trials that passed, by level."""

    facts: TrialFacts
    counts: Mapping[Level, Passed]

    @property
    def total(self) -> Passed:
        """The levels that passed, of all that count."""
        counts = self.counts.values()
        return Passed(
            passed=sum(one.passed for one in counts), counted=sum(one.counted for one in counts)
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class BoardFacts:
    """Facts by trial, and the publications of each contestant in their order."""

    trials: Mapping[str, TrialFacts] = field(default_factory=dict[str, TrialFacts])
    history: Mapping[str, tuple[Publication, ...]] = field(
        default_factory=dict[str, tuple[Publication, ...]]
    )

    def of(self, trial: str) -> TrialFacts:
        """Return the facts of a trial."""
        return self.trials.get(trial, NO_FACTS)


NO_FACTS: Final = TrialFacts()
NO_BOARD_FACTS: Final = BoardFacts()
