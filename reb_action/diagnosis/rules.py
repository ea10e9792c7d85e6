"""The rules that recognise a cause in a log, the most specific first.

Every pattern is bounded within a line or a few lines, so that a search is linear in the text.
"""

import re
from dataclasses import dataclass

from reb_action.diagnosis.cause import Cause


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """A cause, the words that betray it, and who writes them."""

    cause: Cause
    pattern: re.Pattern[str]
    source: str
    # What the same words mean on a machine that was never meant to have a GPU.
    without_gpu: Cause | None = None
    # Whether the words count inside a warning, once it is known that the run failed.
    in_warnings: bool = False


def _rule(
    cause: Cause,
    source: str,
    *words: str,
    without_gpu: Cause | None = None,
    in_warnings: bool = False,
) -> Rule:
    return Rule(
        cause=cause,
        pattern=re.compile("|".join(words), re.MULTILINE),
        source=source,
        without_gpu=without_gpu,
        in_warnings=in_warnings,
    )


# "No module named" as an interpreter says it: after an exception's name or at the line's start.
_NO_MODULE = r"(?:^ {0,12}|Error: |python[\d.]{0,6}: )No module named '?"

# Extensions that a repository builds itself, or whose wheel has a compiled half of another name.
_EXTENSIONS = (
    r"[\w.]{0,80}(?:\._ext|\._C\w{0,20}|\.cpp|_cuda|_cuda_\w{1,30}|_ext|_kernels?|_ops|_rasterization)"
    r"|MultiScaleDeformableAttention|simple_knn|simple-knn|_C|amp_C|causal_conv1d|selective_scan\w{0,20}"
    r"|pointnet2\w{0,20}|pointops\w{0,10}|gridencoder|raymarching|freqencoder|tinycudann|nvdiffrast"
)

# Programs that a run starts and that pip does not bring.
_PROGRAMS = (
    r"(?:ffmpeg|ffprobe|sox|gcc|g\+\+|cc|c\+\+|clang|clang\+\+|x86_64-linux-gnu-g(?:cc|\+\+)|nvcc|ninja"
    r"|git|git-lfs|make|cmake|cargo|rustc|java|wget|curl|unzip|pdflatex|dot|nvidia-smi|hostname|lspci"
    r"|espeak|espeak-ng|xvfb-run|swig|protoc|pkg-config|bazel|aria2c)"
)

# Packages that log, and that are taken for optional.
_LOGGERS = (
    r"(?:wandb|tensorboardX?|tensorboard_logger|mlflow|comet_ml|neptune|aim|swanlab|visdom|clearml)"
)

# Modules that a newer Python dropped, or that an older one does not have yet.
_STDLIB = (
    r"(?:distutils|imp|asyncore|asynchat|smtpd|tomllib|zoneinfo|graphlib|dataclasses|cgi|pipes)"
)

_CUDA_LIBRARIES = (
    r"lib(?:cudart|cublas|cublasLt|cudnn|cufft|curand|cusolver|cusparse|nvrtc|nvToolsExt|cupti|nccl"
    r"|nvJitLink|nppi\w{1,8})[\w-]{0,40}\.so"
)

_SPECIFIC: tuple[Rule, ...] = (
    _rule(
        Cause.HARNESS_FAULT,
        "Docker, NVIDIA container toolkit",
        r"could not select device driver",
        r"nvidia-container-cli: (?:initialization|mount|device) error",
        r"NVIDIA-SMI has failed because",
        r"Error response from daemon:",
        r"Cannot connect to the Docker daemon",
        r"Failed to initialize NVML",
        r"\[Errno 28\] No space left on device|write error: No space left on device",
    ),
    _rule(
        Cause.HARNESS_FAULT,
        "PyTorch: the driver's library is not in the sandbox",
        r"Found no NVIDIA driver on your system",
        r"libcuda\.so(?:\.1)?: cannot open shared object file",
        without_gpu=Cause.REPOSITORY_DEFECT,
    ),
    _rule(
        Cause.AGENT_GAVE_UP,
        "agent command lines: limits on turns",
        r'"error_max_turns"',
        r"[Mm]ax(?:imum)?[ _](?:number of )?turns (?:exceeded|reached)",
        r"[Rr]eached max(?:imum)? (?:number of )?(?:turns|steps)",
        r"Maximum Steps Reached",
    ),
    _rule(
        Cause.OUT_OF_MEMORY_GPU,
        "PyTorch, JAX, TensorFlow, cuBLAS",
        r"(?:CUDA|HIP) out of memory",
        r"CUDA error: out of memory|cuda runtime error \(2\) ?: out of memory",
        r"CUDA_ERROR_OUT_OF_MEMORY",
        r"CUBLAS_STATUS_ALLOC_FAILED",
        r"(?:RESOURCE_EXHAUSTED|Resource exhausted): (?:Out of memory|Failed to allocate|OOM)",
        r"torch(?:\.cuda)?\.OutOfMemoryError",
        r"OOM when allocating tensor",
    ),
    _rule(
        Cause.OUT_OF_MEMORY_HOST,
        "PyTorch, NumPy, the C++ runtime, the shell",
        r"DataLoader worker .{0,40}killed by signal: (?:Killed|Bus error)",
        r"insufficient shared memory",
        r"DefaultCPUAllocator: (?:can't allocate|not enough) memory",
        r"Unable to allocate [\d.]{1,12} [KMGT]iB for an array",
        r"(?:^|: |\| )MemoryError\b",
        r"std::bad_alloc",
        r"^Killed$|line \d{1,6}: +\d{1,9} Killed ",
        r"Cannot allocate memory",
        r"exitcode: -9\)",
        r"Signal 9 \(SIGKILL\) received",
    ),
    _rule(
        Cause.ABI_MISMATCH,
        "the dynamic loader",
        r"undefined symbol: ?\w",
        r"Symbol not found: ?\w",
        r"version [`'](?:GLIBC|GLIBCXX|CXXABI)_[\w.]{1,12}' not found",
        r"lib(?:torch|c10)\w{0,30}\.so: cannot open shared object file",
        r"dynamic module does not define module export function",
    ),
    _rule(
        Cause.ABI_MISMATCH,
        "PyTorch: an operator library that did not register",
        r"operator torchvision::\w{1,40} does not exist",
        r"No such operator torch(?:vision|audio)::",
    ),
    _rule(
        Cause.DRIVER_TOO_OLD,
        "PyTorch, CUDA runtime",
        r"NVIDIA driver on your system is too old",
        r"CUDA driver version is insufficient",
        r"PTX was compiled with an unsupported toolchain",
        r"unsupported display driver / cuda driver combination",
        r"forward compatibility was attempted on non supported HW",
        in_warnings=True,
    ),
    _rule(
        Cause.UNSUPPORTED_COMPUTE_CAPABILITY,
        "CUDA runtime, nvcc, Triton, FlashAttention, vLLM",
        r"no kernel image is available for execution",
        r"only supports (?:Turing|Ampere|Ada|Hopper|Blackwell)\b.{0,40} GPUs?",
        r"only supports \w{1,12} GPUs? or newer",
        r"Unsupported gpu architecture",
        r"GPUs? with compute capability",
        r"requires \.target sm_\d{2,3}",
        r"too old to be supported by the triton",
        r"device kernel image is invalid",
        r"is not compatible with the current PyTorch installation",
        in_warnings=True,
    ),
    _rule(
        Cause.WRONG_CUDA_BUILD,
        "PyTorch and what is built upon it",
        r"The detected CUDA version \([\d.]{1,8}\) mismatches",
        r"compiled with different CUDA (?:major )?versions",
        r"CUDA Setup failed despite",
        r"CUDA SETUP: (?:Required library version not found|CUDA detection failed)",
        r"libbitsandbytes_\w{1,20}\.so: cannot open",
        r"No operator found for `memory_efficient_attention",
        r"No matching distribution found for [\w.=<>~-]{1,60}\+(?:cu\d{2,3}|cpu|rocm)",
        _CUDA_LIBRARIES + r"[\w.]{0,12}: cannot open shared object file",
    ),
    _rule(
        Cause.WRONG_CUDA_BUILD,
        "PyTorch: a build without CUDA",
        r"Torch not compiled with CUDA enabled",
        r"Attempting to deserialize object on a CUDA device",
        without_gpu=Cause.REPOSITORY_DEFECT,
    ),
    _rule(
        Cause.WRONG_CUDA_BUILD,
        "xFormers",
        r"can't load C\+\+/CUDA extensions",
        in_warnings=True,
    ),
)

_TOOLS: tuple[Rule, ...] = (
    _rule(
        Cause.AUXILIARY_TOOLING_MISSING,
        "Python's subprocess, the shell, distutils, pip",
        r"No such file or directory: '(?:/[\w./-]{0,80}/)?" + _PROGRAMS + r"'",
        r"(?:^|[ :/])" + _PROGRAMS + r": (?:command )?not found",
        r"command '[\w./+-]{1,80}' failed: No such file or directory",
        r"Cannot find command 'git'|Git executable not found",
        r"'lfs' is not a git command",
        r"[Uu]nable to find (?:ffmpeg|a compiler)|[Cc]ould(?:n't| not) find ffmpeg",
    ),
    _rule(
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
    _rule(
        Cause.AUXILIARY_TOOLING_MISSING,
        "logging packages",
        _NO_MODULE + _LOGGERS + r"\b(?!\.)",
        r"Neither `tensorboard` nor `tensorboardX` is available",
        r"requires (?:wandb|tensorboardX?|TensorBoard) to be installed",
        r"TensorBoard logging requires TensorBoard",
    ),
    _rule(
        Cause.AUXILIARY_TOOLING_MISSING,
        "pickle, reading a Git LFS pointer in place of the file",
        r"UnpicklingError: invalid load key, 'v'",
    ),
)

_VERSIONS: tuple[Rule, ...] = (
    _rule(
        Cause.WRONG_PYTHON,
        "pip",
        r"requires a different Python",
        r"Ignored the following versions that require a different python",
        r"requirement torch\S{0,20} .{0,80}\(from versions: 0\.1\.2, 0\.1\.2\.post1",
        r"is not a supported wheel on this platform",
    ),
    _rule(
        Cause.WRONG_PYTHON,
        "Python: syntax of another version",
        r"^.{0,300}(?::=|\bf[\"']).{0,300}\n[ ^~]{1,300}\n.{0,40}SyntaxError: invalid syntax",
        r"^.{0,40}\bmatch .{1,200}:\n[ ^~]{1,300}\n.{0,40}SyntaxError: invalid syntax",
        r"Missing parentheses in call to '(?:print|exec)'",
        r"future feature annotations is not defined",
    ),
    _rule(
        Cause.WRONG_PYTHON,
        "Python: a standard library of another version",
        _NO_MODULE + _STDLIB + r"(?:'|$)",
        r"module 'collections' has no attribute '[A-Z]",
        r"cannot import name '\w{1,60}' from '[\w.]{1,60}' \(\S{0,120}/python3\.\d{1,2}/\w{1,30}(?:/__init__)?\.py\)",
        r"cannot import name '[A-Z]\w{1,30}' from 'collections'",
        r"module 'inspect' has no attribute 'getargspec'",
        r"module 'pkgutil' has no attribute 'ImpImporter'",
        r"unsupported operand type\(s\) for \|: '\w{1,40}' and '(?:NoneType|type)'",
        r"'type' object is not subscriptable",
    ),
    _rule(
        Cause.MIXED_FRAMEWORKS,
        "NumPy 1 and 2",
        r"numpy\.(?:dtype|ndarray|ufunc) size changed",
        r"Error: Numpy is not available",
        r"numpy\.core\.multiarray failed to import",
        r"module compiled against A[PB]I version",
        r"module '(?:numpy|np)' has no attribute '\w{1,30}'",
        r"compiled using NumPy 1\.x cannot be run in",
        in_warnings=True,
    ),
    _rule(
        Cause.MIXED_FRAMEWORKS,
        "protobuf, JAX, cuDNN, Keras",
        r"Descriptors (?:cannot|should not)(?: not)? be created directly",
        r"jaxlib (?:is )?version [\d.]{1,12}\b.{0,20} (?:but|is newer|is older|and incompatible)",
        r"jaxlib is version [\d.]{1,12}, but",
        r"Loaded runtime CuDNN library",
        r"installed version of Keras is Keras 3",
    ),
    _rule(
        Cause.MIXED_FRAMEWORKS,
        "pip, pkg_resources",
        r"ResolutionImpossible",
        r"have conflicting dependencies",
        r"VersionConflict\b",
        r"is required for a normal functioning of this module, but found",
    ),
)

_RUNS: tuple[Rule, ...] = (
    _rule(
        Cause.NCCL,
        "NCCL, torch.distributed",
        r"NCCL [Ee]rror",
        r"nccl(?:System|Internal|InvalidUsage|InvalidArgument|Remote|UnhandledCuda)\w{0,10}:",
        r"Watchdog caught collective operation timeout",
        r"Duplicate GPU detected",
        r"server socket has failed to (?:listen|bind)",
        r"client socket has (?:failed|timed out)",
        r"RuntimeError: Address already in use",
    ),
    _rule(
        Cause.NETWORK_NEEDED,
        "Hugging Face Hub, Weights & Biases",
        r"couldn't connect to 'https?://",
        r"(?:LocalEntryNotFound|OfflineModeIsEnabled|GatedRepo|RepositoryNotFound)(?:Error)?: ",
        r"Cannot access gated repo|access a gated repo",
        r"api_key not configured",
    ),
    _rule(
        Cause.NETWORK_NEEDED,
        "requests, urllib, sockets, curl, git",
        r"Max retries exceeded with url",
        r"Failed to establish a new connection",
        r"Temporary failure in name resolution|Name or service not known|nodename nor servname",
        r"[Cc]ould not resolve host",
        r"urlopen error",
        r"Network is unreachable",
        r"ConnectionError: |ConnectTimeout\b|curl: \(\d{1,2}\) ",
        r"TimeoutError: \[Errno 110\]",
    ),
    _rule(
        Cause.TIMED_OUT,
        "Python's subprocess, Slurm",
        r"TimeoutExpired: .{0,300}timed out after",
        r"DUE TO TIME LIMIT",
    ),
)

_IMPORTS: tuple[Rule, ...] = (
    _rule(
        Cause.NATIVE_EXTENSION_NOT_BUILT,
        "Python, importing a compiled module",
        _NO_MODULE + r"(?:" + _EXTENSIONS + r")(?:'|$)",
        r"cannot import name '_C\w{0,20}'",
        r"name '_C' is not defined",
        r"[Pp]lease compile \w{1,60}",
        r"Could not find lib\w{1,40}\.so",
    ),
    _rule(
        Cause.MIXED_FRAMEWORKS,
        "Python, importing from a package of another version",
        r"cannot import name '\w{1,80}' from '[\w.]{1,120}' \(\S{0,200}(?:site|dist)-packages",
        _NO_MODULE + r"\w{1,60}\.[\w.]{1,120}'",
    ),
    _rule(
        Cause.MISSING_DEPENDENCY,
        "Python, importlib.metadata, pkg_resources, transformers",
        _NO_MODULE + r"\w",
        r"packages that were not found in your environment",
        r"requires the [\w.-]{1,40} library but it was not found",
        r"PackageNotFoundError: ",
        r"DistributionNotFound: ",
    ),
    _rule(
        Cause.MISSING_DEPENDENCY,
        "the dynamic loader",
        r"lib[\w+.-]{1,60}\.so[\d.]{0,12}: cannot open shared object file",
    ),
    _rule(
        Cause.MISSING_DEPENDENCY,
        "pip",
        r"No matching distribution found for",
    ),
    _rule(
        Cause.MISSING_DEPENDENCY,
        "packages that check for another themselves",
        r"(?:ImportError|ModuleNotFoundError|RuntimeError): .{0,200}(?:not installed|pip install|pip3 install)",
    ),
)

# Symptoms rather than causes: they count when nothing above explains them.
_SYMPTOMS: tuple[Rule, ...] = (
    _rule(
        Cause.NATIVE_EXTENSION_NOT_BUILT,
        "pip, setuptools, PyTorch's extension builder",
        r"Error (?:building|compiling objects for) extension",
        r"ninja: build stopped",
        r"Command '\['ninja'",
        r"error: command '[\w./+-]{1,120}' failed with exit",
        r"Failed building wheel for|Could not build wheels|[Ff]ailed to build installable wheels",
        r"Getting requirements to build \w{1,10} did not run successfully",
        r"subprocess-exited-with-error",
    ),
    _rule(
        Cause.REPOSITORY_DEFECT,
        "CUDA runtime: a device number that this machine does not have",
        r"invalid device ordinal",
        r"No CUDA GPUs are available",
    ),
    _rule(
        Cause.REPOSITORY_DEFECT,
        "Python: errors that no installation mends",
        r"UnboundLocalError: ",
        r"NameError: name '\w{1,80}' is not defined",
        r"(?:Indentation|Tab)Error: ",
        r"SyntaxError: ",
        r"shapes cannot be multiplied",
        r"can't open file '",
    ),
)

RULES: tuple[Rule, ...] = (*_SPECIFIC, *_TOOLS, *_VERSIONS, *_RUNS, *_IMPORTS, *_SYMPTOMS)
