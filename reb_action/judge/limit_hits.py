"""Judges hits of the sandbox's limits during a measurement: a fault of reb or of the environment.

A limit that is too small fails an honest environment, so it makes the level invalid. If the
known-good environment passed within the same or smaller limits, the limit is large enough, and the
hit is the environment's fault.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from reb_action.judge.faults import CAUSES, describe_cause, name_limit
from reb_action.model.evidence import Evidence
from reb_action.model.fault import FaultCause
from reb_action.model.limits import LimitHits, Limits
from reb_action.model.manifest import Level, Outcome
from reb_action.model.observation import Observation
from reb_action.model.verdict import LevelResult

# C2 runs no code of the repository: the probe multiplies one small matrix on each GPU. With torch
# and a CUDA context for each of eight GPUs that takes a few GiB.
_PROBE_LIMITS: Final = Limits()


def judge_limit_hits(evidence: Evidence, result: LevelResult, seen: Observation) -> LevelResult:
    """Return the result with the limits that were hit: a failure may be invalid; a pass stays.

    C0 is excluded: no code of the repository runs there, so only processes of the environment can
    use the limits up. A separate run without the environment shows whether pyright itself fails.
    """
    if result.level is Level.C0 or seen.hits is None or result.outcome is not Outcome.FAILED:
        return result
    causes = tuple(_list_causes(seen.hits))
    if not causes:
        return result
    fault = describe_cause(causes[0], evidence.limits)
    proven = _find_proven(evidence, result.level)
    if all(_is_enough(cause, evidence.limits, proven, seen.hits) for cause in causes):
        enough = name_limit(causes[0], proven)
        reason = f"{result.reason}: {fault}; {enough} are enough for the right environment"
        return replace(result, reason=reason)
    reason = f"not measured: {result.reason}: {fault}; {CAUSES[causes[0]].advice}"
    return replace(result, outcome=Outcome.INVALID, paper=Outcome.INVALID, reason=reason)


def _find_proven(evidence: Evidence, level: Level) -> Limits | None:
    return _PROBE_LIMITS if level is Level.C2 else evidence.qualified_limits.get(level)


def _list_causes(hits: LimitHits) -> Iterator[FaultCause]:
    """Yield the causes of hits, the most important first."""
    if hits.memory_kills:
        yield FaultCause.OUT_OF_MEMORY
    if hits.shm_full:
        yield FaultCause.OUT_OF_SHARED_MEMORY
    if hits.processes_refused:
        yield FaultCause.OUT_OF_PROCESSES
    if hits.disk_full:
        yield FaultCause.DISK_FULL


def _is_enough(
    cause: FaultCause, limits: Limits | None, proven: Limits | None, hits: LimitHits
) -> bool:
    """Return whether a limit was hit that is known to be enough for the right environment."""
    if limits is None or proven is None:
        return False
    match cause:
        case FaultCause.OUT_OF_MEMORY:
            # Else the machine's memory was used up, perhaps by others, and not the sandbox's.
            return hits.memory_refused > 0 and limits.memory_mib >= proven.memory_mib
        case FaultCause.OUT_OF_SHARED_MEMORY:
            return limits.shm_mib >= proven.shm_mib
        case FaultCause.OUT_OF_PROCESSES:
            return limits.processes >= proven.processes
        case _:
            # Other programs of the runner can fill its disk too, so a full one proves nothing.
            return False
