"""Counts imports as the paper does: which tracked files, and which names in each.

Source: the definition of the C0 denominator. Over the git-tracked `*.py` files outside the
excluded folders, the total is the size of the union of the first components of all absolute
imports, anywhere in a file; the standard library and local names count.
"""

import ast
import warnings
from collections import deque
from collections.abc import Iterator
from typing import Final

EXCLUDED_COMPONENTS: Final = frozenset(
    {
        ".git",
        "__pycache__",
        ".mypy_cache",
        ".pytest_cache",
        ".venv",
        "venv",
        "build",
        "dist",
        "node_modules",
        "build_output",
        "benchmark_assets",
        "benchmark_scripts",
    }
)
"""A tracked path with any of these components is not counted."""

# In the order of the fields of `ast`.
_BLOCKS: Final = ("body", "handlers", "orelse", "finalbody", "cases")

LIMIT_SOURCE_BYTES: Final = 4 * 1024 * 1024
"""A larger source is not parsed: it would cost minutes and gigabytes, and is never hand-written."""


def is_counted(path: str) -> bool:
    """Return whether a tracked path (relative, `/` between its components) takes part in C0."""
    return path.endswith(".py") and EXCLUDED_COMPONENTS.isdisjoint(path.split("/"))


def imported_names(source: bytes) -> frozenset[str]:
    """Return the first components of all absolute imports; empty if Python cannot parse the file.

    A byte order mark counts as unparsable, as it did in the paper's own count.
    """
    tree = parse(source.decode("utf-8", "replace"))
    if tree is None:
        return frozenset()
    return frozenset(name for node in walk_statements(tree) for name in _names(node))


def import_statements(source: bytes) -> tuple[str, ...]:
    """Return all imports of a file, at every level of nesting, each as a separate statement."""
    tree = parse(source.decode("utf-8", "replace").removeprefix("\ufeff"))
    if tree is None:
        return ()
    every = walk_statements(tree)
    nodes = (node for node in every if isinstance(node, ast.Import | ast.ImportFrom))
    texts = (ast.unparse(node) for node in nodes if not _is_of_the_future(node))
    return tuple(dict.fromkeys(texts))


def walk_statements(root: ast.AST) -> Iterator[ast.AST]:
    """Yield `root` and all statements below it, in the order of `ast.walk`.

    Nearly all nodes of a file belong to expressions, which contain no statement.
    """
    waiting = deque([root])
    while waiting:
        node = waiting.popleft()
        yield node
        for name in _BLOCKS:
            waiting.extend(getattr(node, name, ()))


def parse(text: str) -> ast.Module | None:
    """Parse one file; None if Python cannot parse it or it is too large."""
    if len(text) > LIMIT_SOURCE_BYTES:
        return None
    try:
        with warnings.catch_warnings():
            # Ignore warnings about invalid escapes and `x is 1` in the repository's code.
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _is_of_the_future(node: ast.AST) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _names(node: ast.AST) -> list[str]:
    match node:
        case ast.Import(names=aliases):
            return [alias.name.partition(".")[0] for alias in aliases]
        case ast.ImportFrom(module=str(module), level=0):
            return [module.partition(".")[0]]
        case _:
            return []
