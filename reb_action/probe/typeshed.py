"""Reduces pyright's stubs of the standard library to what decides which imports are reported.

The names of stub files decide whether an import is found. Their content matters only where a call
ends a block, as `sys.exit()` does, or where a context manager catches exceptions. pyright reads
hundreds of kilobytes of stubs for any source; with the reduced ones it takes half the time. A test
compares both.
"""

from collections.abc import Iterator
from typing import Final

import tree_sitter_python
from tree_sitter import Language, Node, Parser

from reb_action.errors import ToolchainError

READ: Final = tuple(
    f"stdlib/{path}.pyi"
    for path in (
        *("_sitebuiltins", "_thread", "_typeshed/__init__", "_typeshed/_type_checker_internals"),
        *("argparse", "builtins", "contextlib", "optparse", "os/__init__", "pydoc"),
        *("sys/__init__", "types", "typing", "typing_extensions", "unittest/case"),
        "xml/dom/xmlbuilder",
    )
)
"""Stubs with a name of the calls that `imports.reduction` keeps, and those that say what a call is.

The others are empty to pyright.
"""

_NEVER: Final = (b"NoReturn", b"Never")
# How an object is made, called and used as a context manager.
_PROTOCOL: Final = frozenset(
    {b"__init__", b"__new__", b"__call__", b"__enter__", b"__exit__", b"__aenter__", b"__aexit__"}
)
_HOLDERS: Final = frozenset(
    {"class_definition", "decorated_definition", "elif_clause", "else_clause", "if_statement"}
)
_FUNCTIONS: Final = frozenset({"function_definition", "decorated_definition"})
_PARSER: Final = Parser(Language(tree_sitter_python.language()))


def reduce_stub(path: str, text: bytes) -> bytes:
    """Return a stub with those functions that decide which code is reached."""
    root = _PARSER.parse(text).root_node
    if root.has_error:
        raise ToolchainError(f"the stub {path} of pyright cannot be read; install pyright again")
    kept, end = list[bytes](), 0
    for node, stands_first in _functions_to_drop(root):
        kept += (text[end : node.start_byte], b"..." if stands_first else b"")
        end = node.end_byte
    return b"".join((*kept, text[end:]))


def _functions_to_drop(block: Node) -> Iterator[tuple[Node, bool]]:
    """Yield the functions that do not matter, and whether each is the first of its block."""
    is_first = True
    for node in block.named_children:
        if node.type in _FUNCTIONS and not _holds_class(node):
            if not _matters(node):
                yield node, is_first
                is_first = False
        elif node.type in _HOLDERS:
            yield from _inner(node)


def _inner(node: Node) -> Iterator[tuple[Node, bool]]:
    for child in node.named_children:
        if child.type == "block":
            yield from _functions_to_drop(child)
        elif child.type in _HOLDERS:
            yield from _inner(child)


def _holds_class(node: Node) -> bool:
    definition = node.child_by_field_name("definition")
    return definition is not None and definition.type == "class_definition"


def _matters(node: Node) -> bool:
    function = node.child_by_field_name("definition") or node
    name = function.child_by_field_name("name")
    returns = function.child_by_field_name("return_type")
    is_protocol = name is not None and name.text in _PROTOCOL
    return is_protocol or (returns is not None and returns.text in _NEVER)
