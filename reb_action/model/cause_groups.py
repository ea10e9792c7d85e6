"""Causes of failures in groups: the three of the benchmark's paper, and those that it lacks."""

from enum import StrEnum
from typing import Final

from reb_action.model.diagnosis import Cause


class CauseGroup(StrEnum):
    """A group of causes; the value is its title. The first three are the paper's."""

    NATIVE = "Native extensions"
    TOOLING = "Auxiliary tooling"
    MIXED = "Mixed frameworks"
    PACKAGES = "Packages and Python"
    MACHINE = "GPU, memory and time"
    OTHER = "Agent, network and code"
    UNKNOWN = "No known cause"


PAPER_GROUPS: Final = (CauseGroup.NATIVE, CauseGroup.TOOLING, CauseGroup.MIXED)
_GROUPS: Final = {
    Cause.NATIVE_EXTENSION_NOT_BUILT: CauseGroup.NATIVE,
    Cause.ABI_MISMATCH: CauseGroup.NATIVE,
    Cause.WRONG_CUDA_BUILD: CauseGroup.NATIVE,
    Cause.UNSUPPORTED_COMPUTE_CAPABILITY: CauseGroup.NATIVE,
    Cause.AUXILIARY_TOOLING_MISSING: CauseGroup.TOOLING,
    Cause.MIXED_FRAMEWORKS: CauseGroup.MIXED,
    Cause.MISSING_DEPENDENCY: CauseGroup.PACKAGES,
    Cause.WRONG_PYTHON: CauseGroup.PACKAGES,
    Cause.DRIVER_TOO_OLD: CauseGroup.MACHINE,
    Cause.GPU_HIDDEN: CauseGroup.MACHINE,
    Cause.NCCL: CauseGroup.MACHINE,
    Cause.OUT_OF_MEMORY_HOST: CauseGroup.MACHINE,
    Cause.OUT_OF_MEMORY_GPU: CauseGroup.MACHINE,
    Cause.TIMED_OUT: CauseGroup.MACHINE,
    Cause.NETWORK_NEEDED: CauseGroup.OTHER,
    Cause.REPOSITORY_DEFECT: CauseGroup.OTHER,
    Cause.AGENT_GAVE_UP: CauseGroup.OTHER,
    Cause.HARNESS_FAULT: CauseGroup.OTHER,
}


def group_of(cause: str | None) -> CauseGroup:
    """Return the group of a cause by its name; a name that this release lacks has no known one."""
    known = None if cause is None or cause not in set(Cause) else _GROUPS[Cause(cause)]
    return CauseGroup.UNKNOWN if known is None else known
