"""Functions that the rules of several levels share."""

from collections.abc import Callable
from typing import Final

from reb_action.judge.challenge import is_mapped
from reb_action.model.manifest import Level, Manifest, Outcome
from reb_action.model.observation import Observation, Witness
from reb_action.model.verdict import LevelResult

BUSY_PERCENT: Final = 3
"""NVML shows one percent for a process that only makes a CUDA context (H200, driver 580)."""

Judge = Callable[[Manifest, Observation], LevelResult]


def find_library_fault(manifest: Manifest, witness: Witness) -> str | None:
    """Return which frameworks of the manifest no process had loaded, or None."""
    absent = [name for name in manifest.frameworks if not is_mapped(name, witness.libraries)]
    if not absent:
        return None
    return f"no process of the run had the native library of {' or '.join(absent)} loaded"


def count_working_gpus(witness: Witness, *, least: int = BUSY_PERCENT) -> int:
    """Return how many GPUs worked and held memory of this run; other processes do not count."""
    return sum(
        gpu.peak_utilisation_percent >= least and gpu.peak_memory_mib > 0 for gpu in witness.gpus
    )


def list_names(what: str, names: list[str]) -> str | None:
    """Return the number of names and the first eight; None if the list is empty."""
    shown = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    return f"{len(names)} {what}: {shown}" if names else None


def outcome_of(holds: bool) -> Outcome:
    """Return PASSED if a level holds, else FAILED."""
    return Outcome.PASSED if holds else Outcome.FAILED


def result_of(level: Level, outcome: Outcome, paper: Outcome, reason: str) -> LevelResult:
    """Return the result of a level that has only an outcome and a reason."""
    return LevelResult(level=level, outcome=outcome, paper=paper, reason=reason)
