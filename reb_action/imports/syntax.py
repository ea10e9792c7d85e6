"""Reads what a source file imports, in any encoding and the syntax of any Python.

tree-sitter parses it: it knows the current grammar and Python 2's, and recovers from what it does
not know. So a file counts by the imports that are legible in it, whatever Python runs the harness.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import tree_sitter_python
from tree_sitter import Language, Node, Parser

from reb_action.imports.decoding import text_of
from reb_action.imports.evaluation import CHECKOUT, parse_expression, path_value, truth

_PARSER: Final = Parser(Language(tree_sitter_python.language()))

_FAILURES: Final = ("ImportError", "ModuleNotFoundError", "Exception", "BaseException")
_LEAVING: Final = ("exit", "_exit", "quit", "abort")
_PATH_CALLS: Final = ("append", "insert", "extend", "addsitedir")

_FLAG: Final = re.compile(r"(\w+)\s*=\s*(?:False|None)")

# What can hold a statement; nothing else is descended into.
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
class Import:
    """One module that a file names: `a.b` of `import a.b` and of `from a.b import names`.

    `level` counts the dots of a relative import. `optional`: the file goes on without it.
    `instead_of` are the modules in whose absence alone it is imported, `given` names that are true
    where it is imported.
    """

    module: str
    level: int = 0
    names: tuple[str, ...] = ()
    optional: bool = False
    instead_of: tuple[str, ...] = ()
    given: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """Return the top-level name."""
        return self.module.partition(".")[0]


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


@dataclass(frozen=True, kw_only=True, slots=True)
class _Place:
    """What holds for the statements of a block."""

    optional: bool = False
    instead_of: tuple[str, ...] = ()
    given: frozenset[str] = frozenset()


def read_contents(source: bytes, *, path: str, version: tuple[int, int]) -> Contents:
    """Read a file of the repository as a Python of this version on Linux would run it."""
    tree = _PARSER.parse(text_of(source).encode("utf-8", "replace"))
    return _Reading(path, version).read(tree.root_node)


class _Reading:
    """One file on its way: what was found of it so far."""

    def __init__(self, path: str, version: tuple[int, int]) -> None:
        self._path, self._version = path, version
        self._imports: list[Import] = []
        self._folders: list[str] = []
        self._names: dict[str, str] = {}
        self._flags: set[str] = set()
        self._is_script = False

    def read(self, root: Node) -> Contents:
        # A stack instead of recursion: nothing limits how deep a file nests.
        waiting: list[tuple[Node, _Place]] = [(root, _Place())]
        while waiting:
            node, place = waiting.pop()
            waiting.extend(reversed(list(self._step(node, place))))
        return Contents(
            imports=tuple(dict.fromkeys(self._imports)),
            folders=tuple(dict.fromkeys(self._folders)),
            is_script=self._is_script,
            flags=frozenset(self._flags),
        )

    def _step(self, node: Node, place: _Place) -> Iterator[tuple[Node, _Place]]:
        match node.type:
            case "import_statement" | "import_from_statement":
                self._imports += [
                    replace(
                        one,
                        optional=place.optional,
                        instead_of=place.instead_of,
                        given=place.given,
                    )
                    for one in _imports(node)
                ]
            case "if_statement":
                for child, given in self._branches(node):
                    yield child, replace(place, given=place.given | given)
            case "try_statement":
                yield from _trial(node, place)
            case "with_statement" if _is_suppressing(node):
                yield from ((child, replace(place, optional=True)) for child in node.named_children)
            case "expression_statement":
                text = _text(node)
                flag = _FLAG.fullmatch(text)
                self._flags |= {flag[1]} if flag and place.instead_of else set()
                self._expression(text)
            case kind if kind in _HOLDERS:
                yield from ((child, place) for child in node.named_children)
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
            text = _text(test) if test is not None else ""
            self._is_script = self._is_script or ("__name__" in text and "__main__" in text)
            condition = parse_expression(text)
            value = truth(condition, version=self._version)
            if value is not False and body is not None:
                yield body, _conjuncts(condition)
            if value is True:
                return
        others = (one for one in node.named_children if one.type in ("else_clause", "ERROR"))
        yield from ((one, frozenset[str]()) for one in others)

    def _expression(self, text: str) -> None:
        """Note what a statement adds to `sys.path`, and which names stand for paths."""
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


def _imports(node: Node) -> Iterator[Import]:
    if node.has_error:
        return
    listed = [_dotted(one) for one in node.children_by_field_name("name")]
    if node.type == "import_statement":
        yield from (Import(module=module) for module in listed)
        return
    module = node.child_by_field_name("module_name")
    text = "".join(_text(module).split()) if module is not None else ""
    dotted = text.lstrip(".")
    yield Import(module=dotted, level=len(text) - len(dotted), names=tuple(listed) or ("*",))


def _dotted(node: Node) -> str:
    named = node.child_by_field_name("name") if node.type == "aliased_import" else node
    return "".join(_text(named or node).split())


def _trial(node: Node, place: _Place) -> Iterator[tuple[Node, _Place]]:
    """Yield the parts of a `try`: what may fail to import, and what is imported instead."""
    body = node.child_by_field_name("body")
    handlers = [one for one in node.named_children if one.type.startswith("except")]
    catching = [one for one in handlers if _is_catching(one)]
    forgiving = bool(catching) and not _is_leaving(catching[0])
    tried = tuple(each.module for each in _direct(body) if not each.level) if body else ()
    for child in node.named_children:
        if child in catching:
            yield child, replace(place, instead_of=(*place.instead_of, *tried))
        elif child == body or child.type == "else_clause":
            yield child, replace(place, optional=place.optional or forgiving)
        else:
            yield child, place


def _direct(body: Node) -> Iterator[Import]:
    for statement in body.named_children:
        if statement.type in ("import_statement", "import_from_statement"):
            yield from _imports(statement)


def _is_catching(handler: Node) -> bool:
    """Tell whether an `except` catches an import that fails."""
    caught = [one for one in handler.named_children if one.type not in ("block", "comment")]
    return not caught or any(name in _text(caught[0]) for name in _FAILURES)


def _is_leaving(handler: Node) -> bool:
    """Tell whether a handler ends in raising or leaving the program: then the import is needed."""
    blocks = [one for one in handler.named_children if one.type == "block"]
    last = [one for one in blocks[-1].named_children if one.type != "comment"] if blocks else []
    if not last:
        return False
    call = _text(last[-1]).partition("(")[0].rpartition(".")[2].strip()
    return last[-1].type == "raise_statement" or call in _LEAVING


def _conjuncts(condition: ast.expr | None) -> frozenset[str]:
    """Return the names all of which are true where the condition is."""
    match condition:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return frozenset({name})
        case ast.BoolOp(op=ast.And(), values=values):
            return frozenset[str]().union(*map(_conjuncts, values))
        case _:
            return frozenset()


def _is_suppressing(node: Node) -> bool:
    head = _text(node.named_children[0]) if node.named_children else ""
    return "suppress(" in head and any(name in head for name in _FAILURES)


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


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


__all__ = ["CHECKOUT", "Contents", "Import", "read_contents"]
