"""Rules for versions: of the interpreter, and of packages that do not go together."""

from reb_action.judge.diagnosis.rules.rule import NO_MODULE, Rule, rule
from reb_action.model.diagnosis import Cause

# Modules that a newer Python dropped, or that an older one does not have yet.
_STDLIB = (
    r"(?:distutils|imp|asyncore|asynchat|smtpd|tomllib|zoneinfo|graphlib|dataclasses|cgi|pipes)"
)

VERSIONS: tuple[Rule, ...] = (
    rule(
        Cause.WRONG_PYTHON,
        "pip, uv: no release for this interpreter",
        r"requires a different Python",
        r"requires Python '[^'\n]{1,60}' but the running Python is",
        r"Ignored the following versions that require a different python",
        r"requirement torch\S{0,20} .{0,80}\(from versions: 0\.1\.2, 0\.1\.2\.post1",
        r"is not a supported wheel on this platform",
        r"current Python version .{0,40}does not satisfy",
        # These bring a wheel for every interpreter that they support.
        r"Failed building wheel for (?:numpy|pandas|scipy|scikit-learn|matplotlib|[Pp]illow)$",
    ),
    rule(
        Cause.WRONG_PYTHON,
        "Python: syntax and files of another version",
        r"^.{0,300}(?::=|\bf[\"']).{0,300}\n[ ^~]{1,300}\n.{0,40}SyntaxError: invalid syntax",
        r"^.{0,40}\bmatch .{1,200}:\n[ ^~]{1,300}\n.{0,40}SyntaxError: invalid syntax",
        r"Missing parentheses in call to '(?:print|exec)'",
        r"future feature annotations is not defined",
        r"unsupported pickle protocol: 5",
        r"bad magic number in '|Python version mismatch: module was compiled for",
    ),
    rule(
        Cause.WRONG_PYTHON,
        "Python: a standard library of another version",
        NO_MODULE + _STDLIB + r"(?:'|$)",
        r"module 'collections' has no attribute '[A-Z]",
        r"cannot import name '\w{1,60}' from '[\w.]{1,60}' "
        r"\(\S{0,120}/python3\.\d{1,2}/\w{1,30}(?:/__init__)?\.py\)",
        r"cannot import name '[A-Z]\w{1,30}' from 'collections'",
        r"module 'inspect' has no attribute 'getargspec'",
        r"module 'pkgutil' has no attribute 'ImpImporter'",
        r"unsupported operand type\(s\) for \|: '\w{1,40}' and '(?:NoneType|type)'",
        r"'type' object is not subscriptable",
    ),
    rule(
        Cause.MIXED_FRAMEWORKS,
        "NumPy 1 and 2",
        r"numpy\.(?:dtype|ndarray|ufunc) size changed",
        r"Error: Numpy is not available",
        r"numpy\.core\.multiarray failed to import",
        r"module compiled against A[PB]I version",
        r"module '(?:numpy|np)' has no attribute '\w{1,30}'",
        r"was removed in the NumPy 2\.0 release",
        r"compiled using NumPy 1\.x cannot be run in|_ARRAY_API not found",
        in_warnings=True,
    ),
    rule(
        Cause.MIXED_FRAMEWORKS,
        "protobuf, JAX, cuDNN, Keras",
        r"Descriptors (?:cannot|should not)(?: not)? be created directly",
        r"jaxlib (?:is )?version [\d.]{1,12}\b.{0,20} (?:but|is newer|is older|and incompatible)",
        r"jaxlib is version [\d.]{1,12}, but",
        r"Loaded runtime CuDNN library",
        r"installed version of Keras is Keras 3",
    ),
    rule(
        Cause.MIXED_FRAMEWORKS,
        "pip, pkg_resources, packages that check versions themselves",
        r"ResolutionImpossible",
        r"have conflicting dependencies",
        r"VersionConflict\b",
        r"KeyError: .{1,80} is not in the \w{1,40} registry",
        r"error in [\w.-]{1,60} setup command: ",
        r"make sure the correct version of \w{1,40}(?: library)? is used",
        r"is required for a normal functioning of this module, but found",
        r"ImportError: .{0,200}\brequires\b.{0,80}\bversion\b",
    ),
)
