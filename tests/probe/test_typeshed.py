"""The reduced stubs have every function that decides which code is reached, and are Python."""

import ast
import re
from itertools import chain

import pytest

from reb_action.imports.reduction import _NEVER_RETURNING, _SWALLOWING
from reb_action.probe.toolchain import find_toolchain
from reb_action.probe.typeshed import READ, reduce_stub

STUBS = find_toolchain().bundle / "dist/typeshed-fallback"
CALLS = "|".join(sorted(_NEVER_RETURNING))
DECIDING = re.compile(
    rf"^ *def ({CALLS})\b[^\n]*-> (?:NoReturn|Never)"
    rf"|^ *(?:class|def) ({'|'.join(sorted(_SWALLOWING))})\b",
    re.MULTILINE,
)


def deciding(text):
    """Return the names in a stub that the reduced sources can call and that decide something."""
    return sorted(filter(None, chain.from_iterable(DECIDING.findall(text))))


def test_every_stub_that_decides_is_read():
    found = {
        str(path.relative_to(STUBS))
        for path in (STUBS / "stdlib").rglob("*.pyi")
        if deciding(path.read_text())
    }
    assert found <= set(READ)
    assert {"stdlib/os/__init__.pyi", "stdlib/contextlib.pyi", "stdlib/sys/__init__.pyi"} <= {*READ}


@pytest.mark.parametrize("path", READ)
def test_reduced_stub_is_python_and_keeps_what_decides(path):
    whole = (STUBS / path).read_text()
    reduced = reduce_stub(path, whole.encode()).decode()
    ast.parse(reduced)
    assert deciding(reduced) == deciding(whole)
    classes = [
        {node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ClassDef)}
        for text in (whole, reduced)
    ]
    assert classes[0] == classes[1]


def test_drops_what_does_not_decide():
    source = b"""
import sys
class A:
    @property
    def b(self) -> int: ...
    if sys.platform == "linux":
        def c(self) -> int: ...
        def d(self) -> NoReturn: ...
    else:
        def c(self) -> str: ...
    def __exit__(self) -> bool: ...
def exit(status: int = ...) -> NoReturn: ...
def f() -> int: ...
"""
    expected = """
import sys
class A:
    ...
    if sys.platform == "linux":
        ...
        def d(self) -> NoReturn: ...
    else:
        ...
    def __exit__(self) -> bool: ...
def exit(status: int = ...) -> NoReturn: ...
...
"""
    assert reduce_stub("stdlib/a.pyi", source).decode() == expected
