"""Imports point down: one ordered list of folders, and every import goes to an earlier line."""

import ast
import functools
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "reb_action"

FLOORS = (
    "errors model redaction resources",
    "documents imports judge score",
    "corpus gateway github sandbox",
    "render session source",
    "agents probe results",
    "doctor trial",
    "demo draft qualify workflow",
    "publish redteam",
    "cli",
    "__main__",
)
"""From the values up to the command line; the parts of one line know nothing of each other."""

FLOOR = {part: number for number, parts in enumerate(FLOORS) for part in parts.split()}
MODULES = [
    path
    for path in PACKAGE.rglob("*.py")
    # What cheaters bring, and what they are played against, is data.
    if path.parent == PACKAGE / "redteam" or "redteam" not in path.parts
]


@functools.cache
def nodes_of(path):
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def part_of(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_parts(path):
    for node in nodes_of(path):
        if isinstance(node, ast.ImportFrom) and node.module == "reb_action":
            yield from (alias.name for alias in node.names if alias.name != "__version__")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("reb_action."):
            yield node.module.split(".")[1]


def imported_modules(path):
    """Yield the modules of ours that a module imports when it is loaded, or later."""
    for node in nodes_of(path):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("reb_action"):
            for alias in node.names:
                for name in (f"{node.module}.{alias.name}", node.module):
                    place = PACKAGE.parent / name.replace(".", "/")
                    found = next(
                        (
                            one
                            for one in (place.with_suffix(".py"), place / "__init__.py")
                            if one.exists()
                        ),
                        None,
                    )
                    if found is not None:
                        yield found
                        break


def test_every_import_goes_to_an_earlier_line():
    upward = [
        f"{path.relative_to(PACKAGE)} imports {part}"
        for path in MODULES
        for part in imported_parts(path)
        if part != part_of(path) and FLOOR[part] >= FLOOR.get(part_of(path), 0)
    ]
    assert upward == []


def test_every_part_is_on_one_line():
    parts = {part_of(path) for path in MODULES} - {"__init__"}
    assert parts == set(FLOOR)
    assert len(FLOOR) == sum(len(parts.split()) for parts in FLOORS)


def test_no_modules_import_each_other_in_a_circle():
    edges = {(path, other) for path in MODULES for other in imported_modules(path) if other != path}
    left = {module for edge in edges for module in edge}
    while leaves := left - {a for a, b in edges if a in left and b in left}:
        left -= leaves
    assert left == set()


def test_only_the_command_line_prints():
    printing = {
        path.relative_to(PACKAGE).as_posix()
        for path in MODULES
        for node in nodes_of(path)
        if isinstance(node, ast.Import) and any(alias.name == "click" for alias in node.names)
    }
    assert {name for name in printing if not name.startswith("cli/")} == set()
