"""Rules for what a run needs beside Python packages: programs, headers, logging packages."""

from reb_action.judge.diagnosis.rules.rule import NO_MODULE, Rule, rule
from reb_action.model.diagnosis import Cause

# Programs that a run starts and that pip does not bring.
_PROGRAMS = (
    r"(?:ffmpeg|ffprobe|sox|gcc|g\+\+|cc|c\+\+|clang|clang\+\+|x86_64-linux-gnu-g(?:cc|\+\+)|nvcc"
    r"|ninja|git|git-lfs|make|cmake|cargo|rustc|java|wget|curl|unzip|pdflatex|dot|nvidia-smi"
    r"|hostname|lspci|espeak|espeak-ng|xvfb-run|swig|protoc|pkg-config|bazel|aria2c)"
)

# Packages that log, and that are taken for optional.
_LOGGERS = (
    r"(?:wandb|tensorboardX?|tensorboard_logger|mlflow|comet_ml|neptune|aim|swanlab|visdom|clearml)"
)

TOOLS: tuple[Rule, ...] = (
    rule(
        Cause.AUXILIARY_TOOLING_MISSING,
        "Python's subprocess, the shell, distutils, pip",
        r"No such file or directory: '(?:/[\w./-]{0,80}/)?" + _PROGRAMS + r"'",
        r"(?:^|[ :/])" + _PROGRAMS + r": (?:command )?not found",
        r"(?:bash|sh): (?:line )?(?:\d{1,5}: )?[\w./+-]{1,60}(?<!\.sh)(?<!\.py): "
        r"(?:command )?not found",
        r"command '[\w./+-]{1,80}' failed: No such file or directory",
        r"Cannot find command 'git'|Git executable not found",
        r"'lfs' is not a git command",
        r"NoBackendError|[Cc]ould(?:n't| not) find ffmpeg",
    ),
    rule(
        Cause.AUXILIARY_TOOLING_MISSING,
        "PyTorch's extension builder, Triton, CMake, compilers",
        r"Ninja is required to load C\+\+ extension",
        r"CUDA_HOME environment variable is not set",
        r"nvcc binary could not be located|nvcc was not found",
        r"Failed to find C compiler",
        r"No CMAKE_C(?:XX|UDA)?_COMPILER could be found|CMake must be installed",
        r"can't find Rust compiler|Rust toolchain",
        r"fatal error: '?[\w/.+-]{1,100}\.(?:h|hpp|hh|cuh)'?(?:: No such file| file not found)",
        r"cannot find -l\w",
    ),
    rule(
        Cause.AUXILIARY_TOOLING_MISSING,
        "logging packages",
        NO_MODULE + _LOGGERS + r"\b(?!\.)",
        r"Neither `tensorboard` nor `tensorboardX` is available",
        r"requires (?:wandb|tensorboardX?|TensorBoard) to be installed",
        r"TensorBoard logging requires TensorBoard",
    ),
    rule(
        Cause.AUXILIARY_TOOLING_MISSING,
        "pickle, safetensors: a Git LFS pointer in place of the file",
        r"UnpicklingError: invalid load key, 'v'",
    ),
)
