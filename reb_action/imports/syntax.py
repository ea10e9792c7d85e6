"""Reads the imports of a source file, in any encoding and the syntax of any Python version.

tree-sitter parses the file: it knows the current grammar and Python 2's, and recovers from syntax
errors. So the imports of a file do not depend on the Python that runs the harness.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import tree_sitter_python
from tree_sitter import Language, Node, Parser

from reb_action.imports.encoding import text_of
from reb_action.imports.evaluation import parse_expression, path_value, truth
from reb_action.imports.guards import Guard, conjuncts, is_suppressing, read_trial
from reb_action.imports.statements import Import, read_statement, text_of_node

_PARSER: Final = Parser(Language(tree_sitter_python.language()))

_PATH_CALLS: Final = ("append", "insert", "extend", "addsitedir")

_FLAG: Final = re.compile(r"(\w+)\s*=\s*(?:False|None)")

# Nodes that can contain a statement; other nodes are not visited.
_HOLDERS: Final = frozenset(
    {
        "ERROR",
        "block",
        "case_clause",
        "class_definition",
        "decorated_definition",
        "elif_clause",
        "else_clause",
        "except_clause",
        "except_group_clause",
        "finally_clause",
        "for_statement",
        "function_definition",
        "match_statement",
        "module",
        "while_statement",
        "with_statement",
    }
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Contents:
    """What one file says: its imports, the folders it adds to `sys.path`, whether it is a script.

    `folders` are below `evaluation.CHECKOUT`, or relative to wherever the file is run from; `flags`
    are the names that it makes false where an import fails (`HAS_FLASH_ATTN = False`).
    """

    imports: tuple[Import, ...]
    folders: tuple[str, ...]
    is_script: bool
    flags: frozenset[str] = frozenset()


def read_contents(source: bytes, *, path: str, version: tuple[int, int]) -> Contents:
    """Read a file of the repository as a Python of this version on Linux would run it."""
    tree = _PARSER.parse(text_of(source).encode("utf-8", "replace"))
    return _Reading(path, version).read(tree.root_node)


class _Reading:
    """The findings in one file so far."""

    def __init__(self, path: str, version: tuple[int, int]) -> None:
        self._path, self._version = path, version
        self._imports: list[Import] = []
        self._folders: list[str] = []
        self._names: dict[str, str] = {}
        self._flags: set[str] = set()
        self._is_script = False

    def read(self, root: Node) -> Contents:
        # A stack instead of recursion: nothing limits how deep a file nests.
        waiting: list[tuple[Node, Guard]] = [(root, Guard())]
        while waiting:
            node, guard = waiting.pop()
            waiting.extend(reversed(list(self._step(node, guard))))
        return Contents(
            imports=tuple(dict.fromkeys(self._imports)),
            folders=tuple(dict.fromkeys(self._folders)),
            is_script=self._is_script,
            flags=frozenset(self._flags),
        )

    def _step(self, node: Node, guard: Guard) -> Iterator[tuple[Node, Guard]]:
        match node.type:
            case "import_statement" | "import_from_statement":
                self._imports += [
                    replace(
                        one,
                        optional=guard.optional,
                        instead_of=guard.instead_of,
                        given=guard.given,
                    )
                    for one in read_statement(node)
                ]
            case "if_statement":
                for child, given in self._branches(node):
                    yield child, replace(guard, given=guard.given | given)
            case "try_statement":
                yield from read_trial(node, guard)
            case "with_statement" if is_suppressing(node):
                yield from ((child, replace(guard, optional=True)) for child in node.named_children)
            case "expression_statement":
                text = text_of_node(node)
                flag = _FLAG.fullmatch(text)
                self._flags |= {flag[1]} if flag and guard.instead_of else set()
                self._expression(text)
            case kind if kind in _HOLDERS:
                yield from ((child, guard) for child in node.named_children)
            case _:
                return

    def _branches(self, node: Node) -> Iterator[tuple[Node, frozenset[str]]]:
        """Yield the branches of an `if` that can run, each with names that are true in it."""
        arms = [node, *(one for one in node.named_children if one.type == "elif_clause")]
        for arm in arms:
            test, body = (
                arm.child_by_field_name("condition"),
                arm.child_by_field_name("consequence"),
            )
            text = text_of_node(test) if test is not None else ""
            self._is_script = self._is_script or ("__name__" in text and "__main__" in text)
            condition = parse_expression(text)
            value = truth(condition, version=self._version)
            if value is not False and body is not None:
                yield body, conjuncts(condition)
            if value is True:
                return
        others = (one for one in node.named_children if one.type in ("else_clause", "ERROR"))
        yield from ((one, frozenset[str]()) for one in others)

    def _expression(self, text: str) -> None:
        """Record the paths that a statement adds to `sys.path`, and the names of paths."""
        if "path" not in text.lower() and "__file__" not in text and "dir" not in text:
            return
        for statement in _statements(text):
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    path = path_value(value, file=self._path, names=self._names)
                    if path is not None:
                        self._names[name] = path
                case ast.Expr(
                    value=ast.Call(func=ast.Attribute(value=owner, attr=call), args=args)
                ):
                    if call in _PATH_CALLS and args and _is_search_path(owner, call):
                        self._add(args[-1])
                case ast.AugAssign(target=target, value=value) if _is_search_path(target, ""):
                    self._add(value)
                case ast.Assign(targets=[target], value=value) if _is_search_path(target, ""):
                    self._add(value)
                case _:
                    continue

    def _add(self, value: ast.expr) -> None:
        match value:
            case ast.List(elts=items) | ast.Tuple(elts=items):
                for item in items:
                    self._add(item)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                path = path_value(value, file=self._path, names=self._names)
                if path is not None:
                    self._folders.append(path)
                else:
                    self._add(left)
                    self._add(right)
            case _:
                path = path_value(value, file=self._path, names=self._names)
                self._folders += [] if path is None else [path]


def _is_search_path(owner: ast.expr, call: str) -> bool:
    match owner:
        case ast.Attribute(value=ast.Name(id="sys"), attr="path"):
            return True
        case ast.Subscript(value=inner):
            return _is_search_path(inner, call)
        case ast.Name(id="path"):
            return call in ("append", "insert")
        case ast.Name(id="site"):
            return call == "addsitedir"
        case _:
            return False


def _statements(text: str) -> list[ast.stmt]:
    try:
        return ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
