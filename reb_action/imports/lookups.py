"""Lists what pyright looks up for a file: modules, names that may be modules, and whose types."""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from reb_action.imports.paper_count import parse
from reb_action.imports.standard import STANDARD_LIBRARY

# For a file that Python cannot parse: possible import statements.
_STATEMENT: Final = re.compile(
    r"(?:\bfrom\s+([\w.]+)\s*)?\bimport\b\s*(\([^)]*\)|(?:[^\n;#\\]|\\\r?\n)*)"
)
_WORD: Final = re.compile(r"[^\W\d]\w*(?:\s*\.\s*[^\W\d]\w*)*|\*")


@dataclass(frozen=True, kw_only=True, slots=True)
class Lookups:
    """What files ask pyright for, at most.

    `modules` are dotted names: `a.b` of `import a.b`, `a.b` and `a.b.c` of `from a.b import c`;
    `a.*` asks for all modules in `a`. `typed` are the top-level names whose types decide what code
    is reached: those of calls that never return, and of `with` statements that catch exceptions.
    """

    modules: frozenset[str]
    typed: frozenset[str]


def list_lookups(sources: Iterable[bytes]) -> Lookups:
    """Return what all of these files ask for, as pyright is to see them."""
    modules, typed = set[str](), set[str]()
    for source in sources:
        text = source.decode("utf-8", "replace").removeprefix("\ufeff")
        tree = parse(text)
        found = set(_in_tree(tree) if tree is not None else _in_text(text))
        modules |= found
        typed |= _deciding(tree) if tree is not None else {_top(module) for module in found}
    return Lookups(modules=frozenset(modules), typed=frozenset(typed) - STANDARD_LIBRARY)


def _top(module: str) -> str:
    return module.partition(".")[0]


def _in_tree(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=aliases):
                yield from (alias.name for alias in aliases)
            case ast.ImportFrom(module=str(module), level=0, names=aliases):
                yield module
                yield from (f"{module}.{alias.name}" for alias in aliases)
            case _:
                continue


def _in_text(text: str) -> Iterator[str]:
    for statement in _STATEMENT.finditer(text):
        words = ["".join(word.split()) for word in _WORD.findall(statement[2])]
        module = (statement[1] or "").strip(".")
        yield from (f"{module}.{word}" if module else word for word in words)
        yield from filter(None, [module])


def _deciding(tree: ast.Module) -> set[str]:
    """Return the top-level modules of what is called: reduced, a file has no other calls left."""
    owners = {name: _top(module) for node in ast.walk(tree) for name, module in _bound(node)}
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return {owners[root] for call in calls if (root := _root(call)) in owners}


def _root(expression: ast.expr) -> str:
    while isinstance(expression, ast.Attribute):
        expression = expression.value
    return expression.id if isinstance(expression, ast.Name) else ""


def _bound(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield each name that an import binds, and the module that it is of."""
    match node:
        case ast.Import(names=aliases):
            yield from ((alias.asname or _top(alias.name), alias.name) for alias in aliases)
        case ast.ImportFrom(module=str(module), level=0, names=aliases):
            yield from ((alias.asname or alias.name, module) for alias in aliases)
        case _:
            return
