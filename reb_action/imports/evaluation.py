"""Evaluates conditions and paths of a source from its text only.

Conditions: on which platform and version an import runs. Paths: what a file adds to `sys.path`.
"""

import ast
import operator
import posixpath
import warnings
from collections.abc import Callable, Mapping
from typing import Any, Final, cast

CHECKOUT: Final = "/checkout"
"""The repository's folder in the paths of this module; its name does not matter."""

_Version = tuple[int, int]
_UNKNOWN: Final = object()


def parse_expression(text: str) -> ast.expr | None:
    """Parse an expression, or return None: what this Python cannot parse, it cannot evaluate."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(f"({text.strip()}\n)", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def truth(condition: ast.expr | None, *, version: _Version) -> bool | None:
    """Return a condition's value on Linux and a version of Python at run time; None if unknown."""
    match condition:
        case ast.BoolOp(op=ast.And(), values=values):
            return _all([truth(value, version=version) for value in values])
        case ast.BoolOp(op=ast.Or(), values=values):
            inverse = _all([_negated(truth(value, version=version)) for value in values])
            return _negated(inverse)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _negated(truth(operand, version=version))
        case ast.Compare(left=left, ops=[sign], comparators=[right]):
            return _compared(_value(left, version), sign, _value(right, version))
        case None:
            return None
        case _:
            value = _value(condition, version)
            return None if value is _UNKNOWN else bool(value)


def _all(values: list[bool | None]) -> bool | None:
    return False if False in values else None if None in values else True


def _negated(value: bool | None) -> bool | None:
    return None if value is None else not value


def _value(node: ast.expr, version: _Version) -> object:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name) | ast.Attribute(attr=name) if name in _CONSTANTS:
            return _CONSTANTS[name]
        case ast.Attribute(value=ast.Name(id=owner), attr=attribute):
            return _attribute(f"{owner}.{attribute}", version)
        case ast.Attribute(value=inner, attr="major" | "minor" as part):
            is_version = _value(inner, version) == version
            return version[part == "minor"] if is_version else _UNKNOWN
        case ast.Name(id="version_info"):
            return version
        case ast.Subscript(value=inner, slice=index) if _value(inner, version) == version:
            return _part(index, version)
        case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items):
            values = tuple(_value(item, version) for item in items)
            return _UNKNOWN if any(value is _UNKNOWN for value in values) else values
        case ast.Call(func=ast.Attribute(value=inner, attr="startswith"), args=[start]):
            return _started(_value(inner, version), _value(start, version))
        case ast.Call(func=ast.Attribute(value=ast.Name(id="platform"), attr="system"), args=[]):
            return "Linux"
        case _:
            return _UNKNOWN


_CONSTANTS: Final[Mapping[str, bool]] = {"TYPE_CHECKING": False, "PY2": False, "PY3": True}


def _started(text: object, prefix: object) -> object:
    if not isinstance(text, str) or not isinstance(prefix, str):
        return _UNKNOWN
    return text.startswith(prefix)


def _attribute(name: str, version: _Version) -> object:
    values = {"sys.platform": "linux", "os.name": "posix", "sys.version_info": version}
    return values.get(name, _UNKNOWN)


def _part(index: ast.expr, version: _Version) -> object:
    match index:
        case ast.Constant(value=int() as position) if position in (0, 1):
            return version[position]
        case ast.Slice(lower=None, upper=ast.Constant(value=int() as end), step=None):
            return version[:end]
        case _:
            return _UNKNOWN


def _compared(left: object, sign: ast.cmpop, right: object) -> bool | None:
    if left is _UNKNOWN or right is _UNKNOWN:
        return None
    compare = _OPERATORS.get(type(sign))
    if compare is None:
        return None
    try:
        # `version_info > (3,)` compares more parts than are known here; two decide all but ties.
        return bool(compare(_two(left), _two(right)))
    except TypeError:
        return None


_OPERATORS: Final[Mapping[type[ast.cmpop], Callable[[Any, Any], object]]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda left, right: left in right,
    ast.NotIn: lambda left, right: left not in right,
}


def _two(value: object) -> object:
    return cast("tuple[object, ...]", value)[:2] if _is_version(value) else value


def _is_version(value: object) -> bool:
    return isinstance(value, tuple) and all(
        isinstance(part, int) for part in cast("tuple[object, ...]", value)
    )


def path_value(node: ast.expr, *, file: str, names: Mapping[str, str]) -> str | None:
    """Return the path that an expression in `file` of the repository names."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.Name(id="__file__"):
            return f"{CHECKOUT}/{file}"
        case ast.Name(id=name):
            return names.get(name)
        case ast.Attribute(value=inner, attr="pardir") if isinstance(
            inner, ast.Attribute | ast.Name
        ):
            return ".."
        case ast.Attribute(value=inner, attr="parent"):
            path = path_value(inner, file=file, names=names)
            return None if path is None else posixpath.dirname(path)
        case ast.Subscript(value=ast.Attribute(value=inner, attr="parents"), slice=index):
            return _ancestor(path_value(inner, file=file, names=names), index)
        case ast.BinOp(left=left, op=ast.Div() | ast.Add() as sign, right=right):
            parts = [path_value(part, file=file, names=names) for part in (left, right)]
            return _joined(parts, "/" if isinstance(sign, ast.Div) else "")
        case ast.JoinedStr(values=values):
            inner = [
                part.value if isinstance(part, ast.FormattedValue) else part for part in values
            ]
            return _joined([path_value(part, file=file, names=names) for part in inner], "")
        case ast.Call(func=function, args=arguments):
            inner = [path_value(argument, file=file, names=names) for argument in arguments]
            return _called(function, inner, file=file, names=names)
        case _:
            return None


def _ancestor(path: str | None, index: ast.expr) -> str | None:
    if path is None or not isinstance(index, ast.Constant) or not isinstance(index.value, int):
        return None
    for _ in range(index.value + 1):
        path = posixpath.dirname(path)
    return path


def _joined(parts: list[str | None], separator: str) -> str | None:
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    return posixpath.join(*known) if separator else "".join(known)


def _called(
    function: ast.expr, arguments: list[str | None], *, file: str, names: Mapping[str, str]
) -> str | None:
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    first = arguments[0] if arguments else None
    match name:
        case "dirname" if first is not None:
            return posixpath.dirname(first)
        case "abspath" | "realpath" | "normpath" | "str" | "fspath" if first is not None:
            return posixpath.normpath(first)
        case "join" | "Path" | "PurePath" if arguments:
            return _joined(arguments, "/")
        case "getcwd" | "cwd" if not arguments:
            # The program may also have been started in the folder above it.
            return "./."
        case "resolve" | "absolute" | "as_posix" | "expanduser" if isinstance(
            function, ast.Attribute
        ):
            inner = path_value(function.value, file=file, names=names)
            return None if inner is None else posixpath.normpath(inner)
        case "joinpath" if isinstance(function, ast.Attribute):
            return _joined([path_value(function.value, file=file, names=names), *arguments], "/")
        case _:
            return None
