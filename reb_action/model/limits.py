"""Limits of a sandbox, which of them were hit, and the time limit of its observation."""

from dataclasses import dataclass, replace
from typing import Final

RESUME_HOURS: Final = 24.0
"""How long the sandbox of a killed trial is kept by default, so that the trial can be resumed."""

FREEZE_SECONDS: Final = 840
"""Maximum seconds for all observations of a frozen sandbox; each one has its own limit."""

C0_SECONDS: Final = 1200
"""Maximum seconds for all of C0: each look has its own limit."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """What a sandbox may use; after `seconds` it ends by itself, even if `reb` was killed.

    `disk_mib` is None if only the free disk of the machine limits it. In a local sandbox the
    other sizes are 0: not limited.
    """

    memory_mib: int = 16 * 1024
    shm_mib: int = 4 * 1024
    processes: int = 4096
    seconds: int = 6 * 3600
    disk_mib: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class LimitHits:
    """Limits that were hit: kernel counts of kills for memory and of processes not started.

    `memory_refused` counts how often the sandbox's own limit of memory was reached: the kernel also
    kills where the whole machine runs out. `shm_full` and `disk_full` say that nothing, or next to
    nothing, was left.
    """

    memory_kills: int = 0
    memory_refused: int = 0
    processes_refused: int = 0
    shm_full: bool = False
    disk_full: bool = False

    def since(self, before: "LimitHits") -> "LimitHits":
        """Return the counts since earlier ones."""
        kills = max(self.memory_kills - before.memory_kills, 0)
        refused = max(self.memory_refused - before.memory_refused, 0)
        return replace(
            self,
            memory_kills=kills,
            # Without a kill the kernel only reclaimed cache memory, which is not a hit.
            memory_refused=refused if kills else 0,
            processes_refused=max(self.processes_refused - before.processes_refused, 0),
        )

    def plus(self, other: "LimitHits") -> "LimitHits":
        """Return the sum of two counts."""
        return LimitHits(
            memory_kills=self.memory_kills + other.memory_kills,
            memory_refused=self.memory_refused + other.memory_refused,
            processes_refused=self.processes_refused + other.processes_refused,
            shm_full=self.shm_full or other.shm_full,
            disk_full=self.disk_full or other.disk_full,
        )
