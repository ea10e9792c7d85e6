"""What speaks for a cause beside a log."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Facts:
    """What is known of a failed run beside its log; a default says that nothing speaks for it."""

    exit_code: int | None = None
    signal: int | None = None
    timed_out: bool = False
    # Whether ranks waited for each other when time was up.
    hung: bool = False
    oom_killed: bool = False
    has_gpu: bool = True
    # Ranks that the level demands, each with a GPU of its own.
    ranks: int = 1
    agent_gave_up: bool = False
    harness_failed: bool = False
    # Top-level modules that the repository itself holds; a name here is not a package's fault.
    own_modules: frozenset[str] = frozenset()
