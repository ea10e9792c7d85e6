"""Reduces conditions to what pyright evaluates without types.

Source: pyright's documentation, "Static Conditional Evaluation" and "Narrowing for Implied Else";
and its behaviour, which tests/probe/test_toolchain.py pins down case by case.
"""

import ast
from collections.abc import Iterable
from typing import Final

OPAQUE: Final = '"".unknown'
"""An expression without name, value or type, so that pyright concludes nothing from it."""

_COMPARED: Final = frozenset({"version_info", "platform", "name"})
_SIMPLE: Final = (
    ast.Attribute,
    ast.Compare,
    ast.Constant,
    ast.List,
    ast.Name,
    ast.Subscript,
    ast.Tuple,
    ast.UnaryOp,
    ast.cmpop,
    ast.expr_context,
    ast.unaryop,
)


def is_static(test: ast.expr) -> bool:
    """Return whether pyright can perhaps evaluate some part of this condition without types."""
    return reduced_condition(test) != OPAQUE


def reduced_condition(test: ast.expr) -> str:
    """Return source text that pyright evaluates, or cannot evaluate, as it does `test`."""
    match test:
        case ast.BoolOp(op=operator, values=values):
            return _reduced_operation("and" if isinstance(operator, ast.And) else "or", values)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _negated(reduced_condition(operand))
        case ast.IfExp(test=inner, body=body, orelse=otherwise):
            return _reduced_choice(map(reduced_condition, (body, inner, otherwise)))
        case ast.NamedExpr(value=value):
            return reduced_condition(value)
        case ast.Constant(value=value):
            return _reduced_constant(value)
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return _reduced_display([not isinstance(item, ast.Starred) for item in items])
        case ast.Dict(keys=keys):
            return _reduced_display([key is not None for key in keys])
        case ast.Compare():
            return ast.unparse(test) if _is_about_runtime(test) else OPAQUE
        case ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING", value=ast.Name()):
            return ast.unparse(test)
        case _:
            return OPAQUE


def reduced_iterable(iterable: ast.expr) -> str:
    """Return an iterable that is, or is not, a non-empty literal, which pyright evaluates."""
    match iterable:
        case ast.List(elts=[_, *_] as items) | ast.Tuple(elts=[_, *_] as items):
            return OPAQUE if any(isinstance(item, ast.Starred) for item in items) else "[0]"
        case _:
            return OPAQUE


def reduced_subject(subject: ast.expr) -> str:
    """Return a match subject that is, or is not, one whose type pyright narrows.

    After an irrefutable case pyright treats only the latter as certainly left.
    """
    items = subject.elts if isinstance(subject, ast.Tuple) else [subject]
    return "_" if any(map(_is_narrowed, items)) else OPAQUE


def _is_narrowed(expression: ast.expr) -> bool:
    match expression:
        case ast.NamedExpr():
            return True
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _is_narrowed(operand)
        case ast.Call(args=[first, *_]):
            return _is_narrowed(first)
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            return _is_narrowing(operator, left, right)
        case _:
            return _is_reference(expression)


def _is_narrowing(operator: ast.cmpop, left: ast.expr, right: ast.expr) -> bool:
    match operator:
        case ast.Is() | ast.IsNot() | ast.Eq() | ast.NotEq():
            return _is_narrowed(left)
        case ast.In() | ast.NotIn():
            return _is_narrowed(left) or _is_narrowed(right)
        case _:
            is_integer = isinstance(right, ast.Constant) and type(right.value) is int
            return is_integer and _is_narrowed(left)


def _is_reference(expression: ast.expr) -> bool:
    match expression:
        case ast.Name():
            return True
        case ast.Attribute(value=value):
            return _is_reference(value)
        case ast.Subscript(value=value, slice=ast.Constant(value=int() | str())):
            return _is_reference(value)
        case ast.Subscript(value=value, slice=ast.UnaryOp(op=ast.USub(), operand=ast.Constant())):
            return _is_reference(value)
        case _:
            return False


def _reduced_operation(operator: str, values: list[ast.expr]) -> str:
    parts = [reduced_condition(value) for value in values]
    if all(part == OPAQUE for part in parts):
        return OPAQUE
    return f"({f' {operator} '.join(parts)})"


def _reduced_choice(parts: Iterable[str]) -> str:
    # pyright does not evaluate it, but takes operands of `and` and `or` inside for its outcome.
    body, test, otherwise = parts
    text = f"({body} if {test} else {otherwise})"
    return OPAQUE if {body, test, otherwise} == {OPAQUE} else text


def _negated(condition: str) -> str:
    return OPAQUE if condition == OPAQUE else f"(not {condition})"


def _reduced_constant(value: object) -> str:
    if isinstance(value, str | bytes):
        return '"x"' if value else '""'
    return repr(value) if value is None or isinstance(value, bool) else "1" if value else "0"


def _reduced_display(is_item: list[bool]) -> str:
    if not is_item:
        return "[]"
    return "[0]" if any(is_item) else OPAQUE


def _is_about_runtime(test: ast.Compare) -> bool:
    inner = list(ast.walk(test))
    compared = any(isinstance(each, ast.Attribute) and each.attr in _COMPARED for each in inner)
    return compared and all(isinstance(each, _SIMPLE) for each in inner)
