"""Reduces a file to the parts that decide which imports pyright reports as unresolved.

pyright reports an import unless its binder finds it unreachable: behind a condition that it can
evaluate without types, or behind a statement that leaves the block. So a reduced file keeps the
imports, verbatim with their comments, and the skeleton of control flow around them. Conditions
that pyright evaluates stay; all others are replaced by one that it cannot evaluate. A test compares
the result with pyright's result for the complete file (tests/probe/test_toolchain.py).

Only `reportMissingModuleSource` also depends on types (code after a call that never returns is not
reported). Calls that are known by name to be of this kind are kept, too.
"""

import ast
from typing import Final

from reb_action.imports.comments import Comments, read_comments
from reb_action.imports.conditions import (
    OPAQUE,
    is_static,
    reduced_condition,
    reduced_iterable,
    reduced_subject,
)
from reb_action.imports.paper_count import parse, walk_statements
from reb_action.imports.text import physical_lines, segment

_Scope = ast.FunctionDef | ast.AsyncFunctionDef

_NEVER_RETURNING: Final = frozenset(
    {"_exit", "abort", "assert_never", "exit", "fail", "quit", "skip", "xfail"}
)
_SWALLOWING: Final = frozenset({"raises", "suppress"})


def sufficient_source(source: bytes) -> bytes:
    """Return what pyright is to see of a file: reduced, else (no Python, or too large) whole."""
    reduced = imports_only(source)
    return source if reduced is None else reduced.encode("utf-8", "replace")


def imports_only(source: bytes) -> str | None:
    """Return the reduced file, or None if Python cannot parse it (pyright perhaps can)."""
    text = source.decode("utf-8", "replace").removeprefix("\ufeff")
    tree = parse(text)
    comments = read_comments(text) if tree is not None else None
    if tree is None or comments is None:
        return None
    try:
        body = _Reduction(lines=physical_lines(text), comments=comments).scope(tree.body)
    except RecursionError:
        return None
    return "".join(f"{line}\n" for line in (*comments.header, *body))


class _Reduction:
    """One file on its way: its lines and comments, and which statements hold an import."""

    def __init__(self, *, lines: tuple[bytes, ...], comments: Comments) -> None:
        self._lines = lines
        self._comments = comments

    def scope(self, statements: list[ast.stmt]) -> list[str]:
        """Reduce the body of a module or function: nothing after its last import matters."""
        last = max((n for n, each in enumerate(statements) if _has_import(each)), default=-1)
        return self._block(statements[: last + 1])

    def _block(self, statements: list[ast.stmt]) -> list[str]:
        return [line for statement in statements for line in self._statement(statement)]

    def _statement(self, node: ast.stmt) -> list[str]:
        match node:
            case ast.Import() | ast.ImportFrom():
                return self._import(node)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                return self._function(node)
            case ast.Return() | ast.Raise() | ast.Break() | ast.Continue():
                return [type(node).__name__.lower()]
            case ast.ClassDef():
                return self._class(node)
            case ast.If():
                return self._if(node)
            case ast.While():
                return self._while(node)
            case ast.For() | ast.AsyncFor():
                return self._for(node)
            case ast.With() | ast.AsyncWith():
                return self._with(node)
            case ast.Try() | ast.TryStar():
                return self._try(node)
            case ast.Match():
                return self._match(node)
            case ast.Assert(test=test):
                return [f"assert {reduced_condition(test)}"] if is_static(test) else []
            case ast.Expr(value=ast.Call(func=function)):
                return _last_words(function)
            case _:
                return []

    def _import(self, node: ast.Import | ast.ImportFrom) -> list[str]:
        if isinstance(node, ast.ImportFrom) and node.level:
            return []
        comment = self._comments.trailing.get(node.end_lineno or node.lineno, "")
        return [f"{segment(self._lines, node)}  {comment}".rstrip()]

    def _function(self, node: _Scope) -> list[str]:
        body = self.scope(node.body)
        return _suite("def f():", body) if body else []

    def _class(self, node: ast.ClassDef) -> list[str]:
        body = self._block(node.body)
        return _suite("class C:", body) if body else []

    def _if(self, node: ast.If, keyword: str = "if") -> list[str]:
        body, otherwise = self._block(node.body), self._else_of_if(node.orelse)
        if not body and not otherwise:
            return []
        return [*_suite(f"{keyword} {reduced_condition(node.test)}:", body), *otherwise]

    def _else_of_if(self, statements: list[ast.stmt]) -> list[str]:
        # A chain of elif stays flat, or it would be nested deeper than pyright parses.
        match statements:
            case [ast.If() as only]:
                return self._if(only, "elif")
            case _:
                return self._else(statements)

    def _else(self, statements: list[ast.stmt]) -> list[str]:
        body = self._block(statements)
        return _suite("else:", body) if body else []

    def _while(self, node: ast.While) -> list[str]:
        body, otherwise = self._block(node.body), self._else(node.orelse)
        # An endless loop matters even if it is empty.
        if not body and not otherwise and not is_static(node.test):
            return []
        return [*_suite(f"while {reduced_condition(node.test)}:", body), *otherwise]

    def _for(self, node: ast.For | ast.AsyncFor) -> list[str]:
        body, otherwise = self._block(node.body), self._else(node.orelse)
        if not body and not otherwise:
            return []
        return [*_suite(f"for _ in {reduced_iterable(node.iter)}:", body), *otherwise]

    def _with(self, node: ast.With | ast.AsyncWith) -> list[str]:
        body = self._block(node.body)
        managers = ", ".join(_manager(item.context_expr) for item in node.items)
        return _suite(f"with {managers}:", body) if body else []

    def _try(self, node: ast.Try | ast.TryStar) -> list[str]:
        body, final = self._block(node.body), self._block(node.finalbody)
        handlers = [self._block(handler.body) for handler in node.handlers]
        otherwise = self._else(node.orelse)
        if not any((body, final, otherwise, *handlers)):
            return []
        keyword = "except*" if isinstance(node, ast.TryStar) else "except"
        lines = _suite("try:", body)
        for handler, handling in zip(node.handlers, handlers, strict=True):
            lines += _suite(f"{keyword} {OPAQUE}:" if handler.type else f"{keyword}:", handling)
        return [*lines, *otherwise, *(_suite("finally:", final) if node.finalbody else [])]

    def _match(self, node: ast.Match) -> list[str]:
        bodies = [self._block(case.body) for case in node.cases]
        if not any(bodies):
            return []
        lines = [f"match {reduced_subject(node.subject)}:"]
        for case, body in zip(node.cases, bodies, strict=True):
            lines += _indented(_suite(_case(case), body))
        return lines


def _suite(header: str, body: list[str]) -> list[str]:
    return [header, *_indented(body or ["pass"])]


def _indented(lines: list[str]) -> list[str]:
    return [f" {line}" for line in lines]


def _case(case: ast.match_case) -> str:
    pattern = "_" if _is_irrefutable(case.pattern) else "0"
    guard = f" if {reduced_condition(case.guard)}" if case.guard else ""
    return f"case {pattern}{guard}:"


def _has_import(node: ast.stmt) -> bool:
    return any(
        isinstance(inner, ast.Import) or (isinstance(inner, ast.ImportFrom) and not inner.level)
        for inner in walk_statements(node)
    )


def _last_words(function: ast.expr) -> list[str]:
    name = _dotted(function)
    return [f"{name}()"] if name.rpartition(".")[2] in _NEVER_RETURNING else []


def _manager(expression: ast.expr) -> str:
    name = _dotted(expression.func) if isinstance(expression, ast.Call) else ""
    return f"{name}(Exception)" if name.rpartition(".")[2] in _SWALLOWING else OPAQUE


def _dotted(expression: ast.expr) -> str:
    """Return `a.b.c` for names and attributes of names, "" for anything else."""
    match expression:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attribute):
            owner = _dotted(value)
            return f"{owner}.{attribute}" if owner else ""
        case _:
            return ""


def _is_irrefutable(pattern: ast.pattern) -> bool:
    match pattern:
        case ast.MatchAs(pattern=None):
            return True
        case ast.MatchAs(pattern=ast.pattern() as inner):
            return _is_irrefutable(inner)
        case ast.MatchOr(patterns=patterns):
            return any(map(_is_irrefutable, patterns))
        case _:
            return False
