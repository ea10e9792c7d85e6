"""The closed set of causes of a failed level, and what each means."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType


class Cause(StrEnum):
    """Why a level failed; a failure of unknown cause has none."""

    MISSING_DEPENDENCY = "missing_dependency"
    NATIVE_EXTENSION_NOT_BUILT = "native_extension_not_built"
    ABI_MISMATCH = "abi_mismatch"
    WRONG_CUDA_BUILD = "wrong_cuda_build"
    DRIVER_TOO_OLD = "driver_too_old"
    GPU_HIDDEN = "gpu_hidden"
    UNSUPPORTED_COMPUTE_CAPABILITY = "unsupported_compute_capability"
    AUXILIARY_TOOLING_MISSING = "auxiliary_tooling_missing"
    MIXED_FRAMEWORKS = "mixed_frameworks"
    WRONG_PYTHON = "wrong_python"
    OUT_OF_MEMORY_HOST = "out_of_memory_host"
    OUT_OF_MEMORY_GPU = "out_of_memory_gpu"
    TIMED_OUT = "timed_out"
    NETWORK_NEEDED = "network_needed"
    REPOSITORY_DEFECT = "repository_defect"
    NCCL = "nccl"
    AGENT_GAVE_UP = "agent_gave_up"
    HARNESS_FAULT = "harness_fault"


@dataclass(frozen=True, kw_only=True, slots=True)
class Diagnosis:
    """A cause and the line that proves it.

    The line is untrusted text of at most 300 characters, empty when a fact is the proof.
    """

    cause: Cause
    line: str = ""

    @property
    def sentence(self) -> str:
        """What the cause means and what usually fixes it; text of this package, safe to show."""
        return _SENTENCES[self.cause]

    @property
    def meaning(self) -> str:
        """What the cause means: the first sentence."""
        return _SENTENCES[self.cause].partition(". ")[0] + "."

    @property
    def remedy(self) -> str:
        """The usual remedy: the rest."""
        return _SENTENCES[self.cause].partition(". ")[2]


_SENTENCES: Mapping[Cause, str] = MappingProxyType(
    {
        Cause.MISSING_DEPENDENCY: (
            "A Python package or a shared library that the code loads is not installed. "
            "Installing it into the reported environment usually fixes this."
        ),
        Cause.NATIVE_EXTENSION_NOT_BUILT: (
            "The compiled part of a package is absent or failed to build. Building it against the "
            "installed framework, or installing a wheel made for it, usually fixes this."
        ),
        Cause.ABI_MISMATCH: (
            "A compiled extension was built against other versions of the libraries that it loads. "
            "Rebuilding it, or installing the wheel made for these versions, usually fixes this."
        ),
        Cause.WRONG_CUDA_BUILD: (
            "A framework or extension was built for another CUDA version, or for none. "
            "Installing builds that all name the same CUDA version usually fixes this."
        ),
        Cause.DRIVER_TOO_OLD: (
            "The driver of this machine does not support the CUDA version that was installed. "
            "A build for an older CUDA version usually fixes this."
        ),
        Cause.GPU_HIDDEN: (
            "The framework finds fewer GPUs than the machine has. Clearing "
            "CUDA_VISIBLE_DEVICES and library paths that shadow the driver's usually fixes this."
        ),
        Cause.UNSUPPORTED_COMPUTE_CAPABILITY: (
            "The installed kernels were not built for this GPU, or need a newer one. A build that "
            "includes the compute capability of this GPU usually fixes this."
        ),
        Cause.AUXILIARY_TOOLING_MISSING: (
            "A program, a header file or a logging package that looked optional is missing. "
            "Installing it (ffmpeg, a compiler, ninja, git, wandb) usually fixes this."
        ),
        Cause.MIXED_FRAMEWORKS: (
            "Installed packages are of versions that do not work together. Pinning them to "
            "versions of the same time, such as numpy below 2, usually fixes this."
        ),
        Cause.WRONG_PYTHON: (
            "The interpreter is too old or too new for the code or for a package. An environment "
            "with the Python version that the repository names usually fixes this."
        ),
        Cause.OUT_OF_MEMORY_HOST: (
            "The run used up the main or shared memory. A larger memory limit, a larger /dev/shm "
            "or fewer data workers usually fixes this."
        ),
        Cause.OUT_OF_MEMORY_GPU: (
            "The run used up the memory of the GPU. A smaller batch or a GPU with more memory "
            "usually fixes this."
        ),
        Cause.TIMED_OUT: (
            "The run did not end within its time. A smaller workload or a longer limit in the "
            "manifest usually fixes this."
        ),
        Cause.NETWORK_NEEDED: (
            "The run wants a network, a model hub or an account there. Declaring the asset in the "
            "manifest, so that it is there beforehand, usually fixes this."
        ),
        Cause.REPOSITORY_DEFECT: (
            "The repository's own code fails whatever is installed, or insists on a device that "
            "the machine does not have. Only a change to the repository fixes this."
        ),
        Cause.NCCL: (
            "The processes of the distributed run could not communicate. One process per "
            "GPU, a free port and shared memory that is large enough usually fix this."
        ),
        Cause.AGENT_GAVE_UP: (
            "The agent stopped before the environment was ready. Its log says whether it met a "
            "limit or chose to stop."
        ),
        Cause.HARNESS_FAULT: (
            "The harness or the runner failed, not the agent. Fix the runner and run the trial "
            "again."
        ),
    }
)
