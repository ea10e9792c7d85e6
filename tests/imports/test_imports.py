"""What counts as an import, what stays of a file for pyright, and what its answer says."""

import ast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reb_action.errors import ToolchainError
from reb_action.imports import (
    LIMIT_SOURCE_BYTES,
    Unresolved,
    imported_names,
    imports_only,
    is_counted,
    read_unresolved,
    sufficient_source,
)
from reb_action.imports.paper_count import walk_statements
from tests.support.programs import program

UNPARSABLE = {
    "python 2": b"import os\nprint 'hello'\n",
    "null byte": b"import os\0\n",
    "byte order mark": b"\xef\xbb\xbfimport os\n",
    "parentheses": b"import os\n" + b"(" * 100_000,
    "unary": b"import os\n" + b"-" * 200_000 + b"1",
    "attributes": b"import os\nx" + b".x" * 200_000,
    "sum": b"import os\n" + b"1+" * 200_000 + b"1",
    "blocks": b"import os\n" + b"".join(b" " * n + b"if x:\n" for n in range(200)),
    # Python 3.13 parses 5,000 branches.
    "elif": b"if x:\n import os\n" + b"elif x:\n import os\n" * 20_000,
    "too large": b"import os\n#" + b" " * LIMIT_SOURCE_BYTES,
}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("setup.py", True),
        ("a/b/c.py", True),
        (".github/scripts/x.py", True),
        ("build.py", True),
        ("builder/x.py", True),
        ("docs/build/x.py", False),
        ("venv/x.py", False),
        ("a/.venv/x.py", False),
        ("a/__pycache__/x.py", False),
        ("node_modules/x/y.py", False),
        ("a.pyi", False),
        ("a.ipynb", False),
        ("py", False),
        ("dist.py/readme", False),
    ],
)
def test_counted_are_python_sources_outside_the_excluded_folders(path: str, expected: bool):
    assert is_counted(path) is expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (b"", ""),
        (b"import a", "a"),
        (b"import a.b.c as d, e", "a e"),
        (b"from a.b import c", "a"),
        (b"from a import *", "a"),
        (b"from . import a\nfrom .b import c\nfrom ..d import e", ""),
        (b"from __future__ import annotations", "__future__"),
        (b"def f():\n class C:\n  try:\n   import a\n  except E:\n   import b", "a b"),
        (b"if TYPE_CHECKING:\n import a\nif False:\n import b", "a b"),
        (b"def f():\n return\n import a", "a"),
        (b"import a  # type: ignore", "a"),
        (b"x = 'caf\xe9'\nimport a", "a"),
        (b"# -*- coding: latin-1 -*-\nimport a  # \xe9", "a"),
        (b"import a\x0c\r\nimport b\rimport c", "a b c"),
        (b"x = '\\d' is 1\nimport a", "a"),
        ("import é".encode(), "é"),
    ],
)
def test_names_are_first_components_of_absolute_imports(source: bytes, expected: str):
    assert imported_names(source) == frozenset(expected.split())


@pytest.mark.parametrize("source", UNPARSABLE.values(), ids=UNPARSABLE.keys())
def test_a_file_that_python_cannot_parse_counts_nothing(source: bytes):
    assert imported_names(source) == frozenset()


def test_a_reduced_file_keeps_imports_and_what_leads_to_them():
    source = b'''"""Docs."""
import a.b as c, d  # why
x = 1


@decorated
async def f(x: int = g()) -> None:
    if x and sys.platform == "linux":
        return x + 1
    elif x:
        print(x)
    async with open(x) as y, suppress(E):
        from e import (
            f,  # one
            g,
        )  # type: ignore
    print(x)


class C(Base):
    y: int = 1

    def m(self):
        return self.y


while 1: pass
if y: import h; import i; z = 2
'''
    assert imports_only(source) == (
        "import a.b as c, d\n"
        "def f():\n"
        " if (\"\".unknown and sys.platform == 'linux'):\n"
        "  return\n"
        ' with "".unknown, suppress(Exception):\n'
        "  from e import (\n"
        "            f,  # one\n"
        "            g,\n"
        "        )  # type: ignore\n"
        "while 1:\n"
        " pass\n"
        'if "".unknown:\n'
        " import h\n"
        " import i\n"
    )


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (b"# type: ignore\n'''x'''\nimport a", "# type: ignore\nimport a\n"),
        (b"'''x'''\n# type: ignore\nimport a", "import a\n"),
        (b"x = 1\n#pyright:basic\nimport a", "#pyright:basic\nimport a\n"),
        (b"x = '# pyright: basic'\nimport a", "import a\n"),
        (b"import a  # pyright: ignore[x]", "import a  # pyright: ignore[x]\n"),
        (
            b"import a; import b  # type: ignore",
            "import a  # type: ignore\nimport b  # type: ignore\n",
        ),
        (b"\xef\xbb\xbfimport a", "import a\n"),
        (b"x = '\xe9'; import a", "import a\n"),
        ("x = 'é\u2028'; import a  # type: ignore".encode(), "import a  # type: ignore\n"),
        (b"import \\\n a", "import \\\n a\n"),
        (b"if x:\n\x0c import a\r\n", 'if "".unknown:\n import a\n'),
        (b"from . import a\nfrom .b import c", ""),
        (b"", ""),
    ],
)
def test_comments_and_odd_characters_survive_where_they_matter(source: bytes, expected: str):
    assert imports_only(source) == expected


@pytest.mark.parametrize("name", [name for name in UNPARSABLE if name != "byte order mark"])
def test_a_file_that_python_cannot_parse_is_not_reduced(name: str):
    assert imports_only(UNPARSABLE[name]) is None


def test_pyright_sees_whole_files_where_they_cannot_be_reduced():
    assert sufficient_source(b"import a\nx = 1\n") == b"import a\n"
    assert sufficient_source(UNPARSABLE["python 2"]) == UNPARSABLE["python 2"]
    assert sufficient_source(UNPARSABLE["too large"]) == UNPARSABLE["too large"]


def test_a_long_chain_of_elif_stays_flat():
    source = b"if x:\n pass\n" + b"elif x:\n import a\n" * 200
    reduced = imports_only(source)
    assert reduced is not None
    assert max(len(line) - len(line.lstrip()) for line in reduced.splitlines()) == 1


def test_deep_nesting_is_reduced_in_good_time():
    source = b"".join(b" " * n + b"for x in y:\n" for n in range(90)) + b" " * 90 + b"import a\n"
    reduced = imports_only(source)
    assert reduced is not None
    assert reduced.endswith("import a\n")


@settings(deadline=None)
@given(st.one_of(st.binary(), st.text().map(lambda text: text.encode("utf-8", "replace"))))
def test_no_source_raises(source: bytes):
    imported_names(source)
    sufficient_source(source)


@settings(deadline=None)
@given(st.integers(min_value=0, max_value=100_000))
def test_reducing_keeps_every_import_and_nothing_that_python_cannot_parse(seed: int):
    source = program(seed).encode()
    reduced = imports_only(source)
    if reduced is not None:
        ast.parse(reduced)
        assert imported_names(reduced.encode()) == imported_names(source)


def diagnostic(message: object, *, rule: str = "reportMissingImports") -> dict[str, object]:
    return {"file": "x.py", "severity": "error", "message": message, "rule": rule}


def document(*diagnostics: object) -> dict[str, object]:
    return {"generalDiagnostics": list(diagnostics), "summary": {"filesAnalyzed": 3}}


def test_unresolved_names_are_read_by_rule():
    answer = document(
        diagnostic('Import "a.b" could not be resolved'),
        diagnostic('Import "a" could not be resolved'),
        diagnostic('Import ".c" could not be resolved'),
        diagnostic(
            'Import "yaml" could not be resolved from source', rule="reportMissingModuleSource"
        ),
        diagnostic('"x" is not defined', rule="reportUndefinedVariable"),
        {"message": "no rule"},
    )
    expected = Unresolved(missing=frozenset({"a"}), stub_only=frozenset({"yaml"}), files=3)
    assert read_unresolved(answer) == expected


@pytest.mark.parametrize(
    ("answer", "clause"),
    [
        (None, "the document is not an object"),
        ([], "the document is not an object"),
        ({}, "`generalDiagnostics` is not an array"),
        ({"generalDiagnostics": {}}, "`generalDiagnostics` is not an array"),
        (document("x"), "a diagnostic is not an object"),
        (document(diagnostic(7)), "a diagnostic about an import names no module: 7"),
        (
            document(diagnostic("L'importation « a »")),
            'a diagnostic about an import names no module: "L\'importation « a »"',
        ),
        ({"generalDiagnostics": []}, "`summary` is not an object"),
        (
            {"generalDiagnostics": [], "summary": {"filesAnalyzed": True}},
            "`filesAnalyzed` is not a count: True",
        ),
    ],
)
def test_a_garbled_answer_stops_us(answer: object, clause: str):
    with pytest.raises(ToolchainError) as caught:
        read_unresolved(answer)
    assert str(caught.value) == (
        f"pyright's answer cannot be read: {clause}. Is it the version that this release pins?"
    )


def test_a_file_at_which_pyright_failed_is_not_taken_for_one_without_imports():
    failed = {"message": 'An internal error occurred while type checking file "a.py": stack'}
    with pytest.raises(ToolchainError, match=r"^it failed on a file of the repository$"):
        read_unresolved(document(failed))


def test_statements_are_walked_as_by_ast():
    text = "try:\n import a\nexcept E:\n import b\nelse:\n x = lambda: 1 if y else 2\n"
    text += "finally:\n pass\nmatch x:\n case 1:\n  import c\nfor _ in x: import e\n"
    text += "async def f():\n class C:\n  import d\n"
    tree = ast.parse(text)
    kinds = (ast.Module, ast.stmt, ast.ExceptHandler, ast.match_case)
    assert list(walk_statements(tree)) == [n for n in ast.walk(tree) if isinstance(n, kinds)]
