"""Rules for imports: extensions that were not built, packages of another version, or absent."""

from reb_action.judge.diagnosis.rules.packages import PACKAGES
from reb_action.judge.diagnosis.rules.rule import NO_MODULE, Rule, rule
from reb_action.model.diagnosis import Cause

# Extensions that a repository builds itself, or whose wheel has a compiled half of another name.
_EXTENSIONS = (
    r"(?:[\w.]{0,80}(?:\._ext|\._C\w{0,20}|\.cpp|_cuda|_cuda_\w{1,30}|_ext|_kernels?|_ops"
    r"|_rasterization)|MultiScaleDeformableAttention|simple_knn|_C|amp_C|causal_conv1d"
    r"|selective_scan\w{0,20}|pointnet2\w{0,20}|pointops\w{0,10}|gridencoder|raymarching"
    r"|freqencoder|awq_inference_engine|tinycudann|nvdiffrast)"
)

# The last frame of a traceback, inside an installed package; a model's __getattr__ only passes on.
_LAST_FRAME_IN_A_PACKAGE = (
    r"(?:site|dist)-packages/(?!torch/nn/modules/module).{1,200}\n.{1,200}\n"
    r"(?:.{0,80}[ ^~]{2,200}\n)?(?:\(.{1,60}\) )?"
)

# Top-level names under which repositories keep their own code.
_LOCAL = r"(?:src|utils?|models?|configs?|modules?|networks?|dataloaders?|tools|scripts|ldm)\b"

IMPORTS: tuple[Rule, ...] = (
    rule(
        Cause.NATIVE_EXTENSION_NOT_BUILT,
        "Python, importing or calling a compiled module",
        NO_MODULE + _EXTENSIONS + r"(?:'|$)",
        r"cannot import name '_C\w{0,20}'",
        r"name '_C' is not defined",
        r"'NoneType' object has no attribute '\w{1,60}_(?:fwd|bwd|forward|backward|cuda)\w{0,10}'",
        r"[Pp]lease compile \w{1,60}",
        r"missing \w{1,60}, run .?python3? setup\.py",
        r"Could not find lib\w{1,40}\.so",
    ),
    rule(
        Cause.REPOSITORY_DEFECT,
        "Python, importing from the repository itself",
        r"cannot import name '\w{1,80}' from '[\w.]{1,120}' "
        r"\((?!unknown)(?!\S{0,200}(?:site|dist)-packages)/",
        r"attempted relative import with no known parent package",
        r"from partially initialized module",
        r"; '[\w.]{1,80}' is not a package",
    ),
    rule(
        Cause.REPOSITORY_DEFECT,
        "Python: a module of the repository lacks what the repository imports from it",
        r"cannot import name '\w{1,80}' from '",
        r"AttributeError: module '",
        NO_MODULE + r"\w{1,60}\.",
        only_own=True,
    ),
    rule(
        Cause.MIXED_FRAMEWORKS,
        "Python, importing from a package of another version",
        r"cannot import name '\w{1,80}' from '[\w.]{1,120}' \(\S{0,200}(?:site|dist)-packages",
        r"cannot import name '\w{1,80}' from '" + PACKAGES + r"[\w.]{0,120}'$",
        r"^.{0,40}\bfrom " + PACKAGES + r"[\w.]{0,120} import .{0,200}\n"
        r"ImportError: cannot import name '\w{1,80}'$",
        _LAST_FRAME_IN_A_PACKAGE + r"ImportError: cannot import name '\w{1,80}'$",
        _LAST_FRAME_IN_A_PACKAGE
        + r"AttributeError: '(?!NoneType)\w{1,80}' object has no attribute",
        _LAST_FRAME_IN_A_PACKAGE + r"TypeError: .{1,120} got an unexpected keyword argument",
        r"AttributeError: module '" + PACKAGES + r"[\w.]{0,80}' has no attribute '\w",
        NO_MODULE + PACKAGES + r"\.[\w.]{1,120}'",
        r"AttributeError: '" + PACKAGES + r"\.[\w.]{1,80}' object has no attribute",
        r"incompatible function arguments",
    ),
    rule(
        Cause.REPOSITORY_DEFECT,
        "Python: a module of the repository, or a setting that its own parser does not know",
        r"cannot import name '\w{1,80}' from '" + _LOCAL + r"[\w.]{0,120}' \(unknown location\)",
        NO_MODULE + _LOCAL + r"\.[\w.]{1,120}'",
        r"AttributeError: module '" + _LOCAL + r"[\w.]{0,80}' has no attribute '\w",
        r"'Namespace' object has no attribute",
    ),
    rule(
        Cause.MISSING_DEPENDENCY,
        "Python, importlib.metadata, pkg_resources, transformers, spaCy",
        NO_MODULE + r"\w",
        r"packages that were not found in your environment",
        r"requires the [\w.-]{1,40} library but it was not found",
        r"PackageNotFoundError: ",
        r"DistributionNotFound: ",
        r"cannot import name '\w{1,80}' from '[\w.]{1,120}' \(unknown location\)",
        r"Can't find model '[\w-]{1,60}'",
    ),
    rule(
        Cause.MISSING_DEPENDENCY,
        "the dynamic loader",
        r"lib[\w+.-]{1,60}\.so[\d.]{0,12}: cannot open shared object file",
        r"'[A-Z]\w{1,20}: cannot open shared object file",
    ),
    rule(
        Cause.MISSING_DEPENDENCY,
        "pip, conda",
        r"(?:ResolvePackageNotFound|PackagesNotFoundError):(?: |$)",
        r"No matching distribution found for",
        r"is not installable\. Neither 'setup\.py' nor 'pyproject\.toml' found",
        r"does not appear to be a Python project",
    ),
    rule(
        Cause.MISSING_DEPENDENCY,
        "packages that check for another themselves, torchaudio",
        r"(?:Import|ModuleNotFound|Runtime)Error:[ \n]"
        r".{0,200}(?:not installed|pip3? install|[Pp]lease install)",
        r"No audio I/O backend is available",
        r"is not one of available backends",
        r"Couldn't find appropriate backend",
    ),
)
