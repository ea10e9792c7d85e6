"""The import statements of a parsed source file."""

from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node


@dataclass(frozen=True, kw_only=True, slots=True)
class Import:
    """One module that a file names: `a.b` of `import a.b` and of `from a.b import names`.

    `level` counts the dots of a relative import. `optional`: the file continues without it.
    `instead_of`: it is imported only if these modules are absent. `given`: it is imported only if
    these names are true.
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


def read_statement(node: Node) -> Iterator[Import]:
    """Yield the modules that an import statement names; nothing if it is not legible."""
    if node.has_error:
        return
    listed = [_dotted(one) for one in node.children_by_field_name("name")]
    if node.type == "import_statement":
        yield from (Import(module=module) for module in listed)
        return
    module = node.child_by_field_name("module_name")
    text = "".join(text_of_node(module).split()) if module is not None else ""
    dotted = text.lstrip(".")
    yield Import(module=dotted, level=len(text) - len(dotted), names=tuple(listed) or ("*",))


def _dotted(node: Node) -> str:
    named = node.child_by_field_name("name") if node.type == "aliased_import" else node
    return "".join(text_of_node(named or node).split())


def text_of_node(node: Node) -> str:
    """Return the text of a part of the source."""
    return (node.text or b"").decode("utf-8", "replace")
