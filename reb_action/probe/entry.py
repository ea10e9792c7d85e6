"""The entry point of a level as it is run, and what one run of it showed."""

from dataclasses import dataclass, replace

from reb_action.model.launches import ProcessLaunches
from reb_action.model.manifest import Entrypoint, Level
from reb_action.model.observation import Decoy, ProofObservation
from reb_action.model.report import Report
from reb_action.probe import launches
from reb_action.probe.context import ProbeContext
from reb_action.probe.guard import GuardedCheckout
from reb_action.probe.run_request import fill_all, make_names
from reb_action.probe.supervisor import Supervised
from reb_action.source.pristine import Source


@dataclass(frozen=True, kw_only=True, slots=True)
class RunResult:
    """One run of the entry point, real or decoy, and how its proofs came out."""

    seen: Supervised
    proofs: tuple[ProofObservation, ...]
    out: str
    processes: tuple[ProcessLaunches, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether it ended well and every proof holds."""
        return self.seen.exit_code == 0 and all(proof.satisfied for proof in self.proofs)

    @property
    def judged(self) -> tuple[ProofObservation, ...]:
        """The proofs, of which none holds if the run did not end well."""
        if self.seen.exit_code == 0:
            return self.proofs
        ended = (
            "it did not end" if self.seen.exit_code is None else f"exit code {self.seen.exit_code}"
        )
        return tuple(replace(one, satisfied=False, detail=ended) for one in self.proofs)


@dataclass(frozen=True, kw_only=True, slots=True)
class DecoyResult:
    """The observation of a decoy run, and the launches of its processes."""

    seen: Decoy
    processes: tuple[ProcessLaunches, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """The entry point of one level, and what running it takes.

    `prefix` is the reported interpreter's: it, and no other environment, must run the file.
    """

    context: ProbeContext
    source: Source
    report: Report
    level: Level
    checkout: GuardedCheckout
    prefix: str | None

    @property
    def point(self) -> Entrypoint:
        """Return the manifest's description."""
        return self.context.manifest.entrypoints[self.level]

    @property
    def argv(self) -> tuple[str, ...]:
        """Return the command with `{out}` in it."""
        names = make_names(self.context, self.report, self.point, "{out}")
        return fill_all(self.point.argv, names)

    @property
    def has_ranks(self) -> bool:
        """Whether the entry point starts several processes, each on its own GPU."""
        return self.point.ranks > 1

    def find_obstacle(self) -> str | None:
        """Return why its launches cannot be counted."""
        folder, manifest = self.source.folder, self.context.manifest
        return launches.find_obstacle(self.context, folder, self.point, manifest)
