"""Guards of an import: a `try` that continues without it, `suppress`, and flags."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from tree_sitter import Node

from reb_action.imports.statements import Import, read_statement, text_of_node

_FAILURES: Final = ("ImportError", "ModuleNotFoundError", "Exception", "BaseException")
_LEAVING: Final = ("exit", "_exit", "quit", "abort")


@dataclass(frozen=True, kw_only=True, slots=True)
class Guard:
    """What holds for the statements of a block."""

    optional: bool = False
    instead_of: tuple[str, ...] = ()
    given: frozenset[str] = frozenset()


def read_trial(node: Node, guard: Guard) -> Iterator[tuple[Node, Guard]]:
    """Yield the parts of a `try`: imports that may fail, and imports that replace them."""
    body = node.child_by_field_name("body")
    handlers = [one for one in node.named_children if one.type.startswith("except")]
    catching = [one for one in handlers if _is_catching(one)]
    forgiving = bool(catching) and not _is_leaving(catching[0])
    tried = tuple(each.module for each in _direct(body) if not each.level) if body else ()
    for child in node.named_children:
        if child in catching:
            yield child, replace(guard, instead_of=(*guard.instead_of, *tried))
        elif child == body or child.type == "else_clause":
            yield child, replace(guard, optional=guard.optional or forgiving)
        else:
            yield child, guard


def _direct(body: Node) -> Iterator[Import]:
    for statement in body.named_children:
        if statement.type in ("import_statement", "import_from_statement"):
            yield from read_statement(statement)


def _is_catching(handler: Node) -> bool:
    """Return whether an `except` catches an import that fails."""
    caught = [one for one in handler.named_children if one.type not in ("block", "comment")]
    return not caught or any(name in text_of_node(caught[0]) for name in _FAILURES)


def _is_leaving(handler: Node) -> bool:
    """Return whether a handler raises or leaves the program: then the import is required."""
    blocks = [one for one in handler.named_children if one.type == "block"]
    last = [one for one in blocks[-1].named_children if one.type != "comment"] if blocks else []
    if not last:
        return False
    call = text_of_node(last[-1]).partition("(")[0].rpartition(".")[2].strip()
    return last[-1].type == "raise_statement" or call in _LEAVING


def conjuncts(condition: ast.expr | None) -> frozenset[str]:
    """Return the names that are all true if the condition is true."""
    match condition:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return frozenset({name})
        case ast.BoolOp(op=ast.And(), values=values):
            return frozenset[str]().union(*map(conjuncts, values))
        case _:
            return frozenset()


def is_suppressing(node: Node) -> bool:
    """Return whether a `with` statement suppresses an import that fails."""
    head = text_of_node(node.named_children[0]) if node.named_children else ""
    return "suppress(" in head and any(name in head for name in _FAILURES)
