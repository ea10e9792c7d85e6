"""The harness's pyright, run for real: it finds what it should, in whole and in reduced files."""

import ast
import json
import subprocess
import sysconfig
import venv
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from reb_action.errors import ToolchainError
from reb_action.imports import Unresolved, read_unresolved, sufficient_source
from reb_action.probe.toolchain import (
    ENVIRONMENT,
    SearchPaths,
    build_command,
    build_config,
    copy_toolchain,
    find_toolchain,
    render_interpreter,
    write_tree,
)
from tests.support.programs import program
from tests.support.pyright_run import (
    answer,
    complete_toolchain,
    empty_interpreter,
    observed,
    unresolved,
    whole_and_reduced,
)

# What pyright reports of a file: names of modules that nobody has are `a` to `d`.
CASES = {
    "plain": ("import a.b.c as d, b\nfrom c import (\n x,\n y,\n)", "a b c"),
    "relative": ("from . import a\nfrom .b import c\nfrom ..c import d", ""),
    "standard": ("import os.path, distutils\nfrom __future__ import annotations", ""),
    "star": ("from a import *\nfrom os import *", "a"),
    "platform": ("import sys\nif sys.platform == 'win32': import a\nelse: import b", "b"),
    "platform starts": ("import sys\nif sys.platform.startswith('win'): import a", "a"),
    "platform alias": ("import sys as s\nif s.platform == 'win32': import a", ""),
    "platform name": ("from sys import platform\nif platform == 'win32': import a", "a"),
    "os name": ("import os\nif os.name == 'nt': import a\nelse: import b", "b"),
    "version": ("import sys\nif sys.version_info < (3,): import a\nelse: import b", "b"),
    "version index": ("import sys\nif sys.version_info[0] == 2: import a\nelse: import b", "b"),
    "version major": ("import sys\nif sys.version_info.major == 2: import a", "a"),
    "version later": ("import sys\nif sys.version_info >= (3, 99): import a\nelse: import b", "b"),
    "type checking": (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING: import a\nelse: import b",
        "a",
    ),
    "type checking alias": ("import typing as t\nif not t.TYPE_CHECKING: import a", ""),
    "false": ("if False: import a\nif 0: import b\nif None: import c\nif '': import d", ""),
    "true": ("if True: pass\nelse: import a\nif not 1: import b\nif [1]: pass\nelse: import c", ""),
    "and or": ("if x and False: import a\nif x or True: import b\nelse: import c", "b"),
    "walrus": ("if (x := 0): import a\nif (x := 1): import b", "b"),
    "ternary": ("if (1 or x) if y else 0: import a\nelse: import b", "a b"),
    "return": ("def f():\n return\n import a\ndef g(x):\n if x: return\n import b", "b"),
    "return in all": ("def f(x):\n if x: return\n elif y: raise\n else: return 1\n import a", ""),
    "break": ("for x in y:\n break\n import a\nwhile x:\n continue\n import b\nimport c", "c"),
    "endless": (
        "def f():\n while True: pass\n import a\ndef g():\n while 1:\n  if x: break\n import b",
        "b",
    ),
    "endless else": ("while True: pass\nelse: import a\nimport b", ""),
    "literal loop": (
        "def f():\n for x in [1]: return\n import a\ndef g():\n for x in y: return\n import b",
        "b",
    ),
    "assert": (
        "def f():\n assert False, x\n import a\ndef g():\n assert 0\n import b\nassert x\nimport c",
        "c",
    ),
    "never returns": (
        "import sys\ndef f():\n sys.exit()\n import a\ndef g():\n exit()\n import b",
        "a b",
    ),
    "try": (
        "try: import a\nexcept ImportError: import b\nelse: import c\nfinally: import d",
        "a b c d",
    ),
    "try returns": ("def f():\n try: return\n except E: return\n import a", ""),
    "try passes": ("def f():\n try: return\n except E: pass\n else: import a\n import b", "b"),
    "finally": ("def f():\n try: return\n finally: import a\n import b", "a"),
    "try raises": ("try:\n raise E\n import a\nexcept: import b", "b"),
    "try star": ("try: import a\nexcept* E: import b", "a b"),
    "with": (
        "def f():\n with x: return\n import a\ndef g():\n with y():\n  raise\n import c",
        "a c",
    ),
    "match": (
        "match x():\n case 1: import a\n case [y, z] if y: import b\n case _: import c",
        "a b c",
    ),
    "match guard": ("match x():\n case 1 if False: import a\n case y if True: import b", "b"),
    "match returns": ("def f():\n match x():\n  case 1: return\n  case _: return\n import a", ""),
    "match name": ("def f(x):\n match x:\n  case 1: return\n  case y: return\n import a", "a"),
    "class": ("class C:\n import a\n if x: import b\n class D: import c", "a b c"),
    "class raises": ("class C:\n raise E\n import a\nimport b", ""),
    "nested": (
        "def f():\n class C:\n  async def g():\n   async with x: import a\n return\n import b",
        "a",
    ),
    "ignored": (
        "import a  # type: ignore\nimport b  # noqa # type: ignore[x]\nimport c  # type: ignored",
        "c",
    ),
    "ignored oddly": (
        "import a  # noqa: type: ignore\nimport b  # type:ignore\nimport c # x type: ignore",
        "a c",
    ),
    "pyright ignored": (
        "import a  # pyright: ignore\nimport b  # pyright: ignore[reportMissingImports]",
        "",
    ),
    "pyright not ignored": ("import a  # pyright: ignore[reportFoo]", "a"),
    "ignored by line": (
        "from a import (  # type: ignore\n x)\nfrom b import (\n x,  # type: ignore\n)",
        "b",
    ),
    "ignored together": ("import a; import b  # type: ignore\nimport c", "c"),
    "file ignored": ("#!/usr/bin/env python\n# type: ignore\n'''x'''\nimport a", ""),
    "file not ignored": ("'''x'''\n# type: ignore\nimport a", "a"),
    "directive": ("import a\n# pyright: reportMissingImports=false", ""),
    "directive basic": ("# pyright: basic\nimport a", "a"),
    "directive strict": ("def f():\n # pyright: strict\n import a", "a"),
    "directive in text": ("x = '''\n# pyright: reportMissingImports=false\n'''\nimport a", "a"),
    "continued": ("import \\\n a\nfrom b \\\n import x", "a b"),
    "form feed": ("\x0cimport a\nif x:\n\x0c import b", "a b"),
    "line ends": ("import a\r\nif x:\r import b\r\n", "a b"),
    "separators": ("x = '\u2028\x1c\x85'; import a\nimport b  # type: ignore", "a"),
    "byte order mark": ("\ufeffimport a", "a"),
    "wide": ("x = 'éèê'; import a; y = 'é'", "a"),
    "python 2": ("import a\nprint 'x'\nexec 'y'\nimport b", "a b"),
    "broken": ("import a\nif x:\nimport b\n)", "a b"),
}
LATIN = b"# -*- coding: latin-1 -*-\nx = '\xe9'\nimport a"

STUBBED = {
    "plain": "import yaml",
    "parts": "from google import protobuf\nimport requests.adapters",
    "exit": "import sys\ndef f():\n sys.exit()\n import yaml",
    "bare exit": "def f():\n exit(1)\n import yaml",
    "conditional exit": "import sys\ndef f(x):\n if x: sys.exit()\n import yaml",
    "suppressed": (
        "from contextlib import suppress\ndef f():\n with suppress(E):\n  return\n import yaml"
    ),
    "not suppressed": "def f():\n with open(x) as y: return\n import yaml",
    "matched": "def f(x):\n match x:\n  case 1: return\n  case _: return\n import yaml",
    "tried": "try: import yaml\nexcept ImportError: yaml = None",
}

PACKAGES = (
    "_pytest",
    "click",
    "docker",
    "jsonschema",
    "rich",
)
ByFile = Callable[[str], Unresolved]


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tools")
    copy_toolchain(find_toolchain(), folder, may_link=True)
    return folder


@pytest.fixture(scope="module")
def cases(tools: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[ByFile, ByFile]:
    sources = {f"{name}/x.py": source.encode() for name, (source, _) in CASES.items()}
    sources |= {f"stubbed {name}/x.py": source.encode() for name, source in STUBBED.items()}
    sources |= {"latin/x.py": LATIN}
    return whole_and_reduced(tools, tmp_path_factory.mktemp("cases"), sources)


@pytest.mark.parametrize("name", CASES)
def test_a_reduced_file_tells_pyright_what_the_whole_one_does(
    cases: tuple[ByFile, ByFile], name: str
):
    whole, reduced = (by_file(f"{name}/x.py").missing for by_file in cases)
    expected = frozenset(CASES[name][1].split())
    assert (whole, reduced) == (expected, expected)


def test_undecodable_bytes_change_nothing(cases: tuple[ByFile, ByFile]):
    assert [by_file("latin/x.py").missing for by_file in cases] == [{"a"}, {"a"}]


@pytest.mark.parametrize("name", STUBBED)
def test_modules_with_a_stub_alone_are_the_same_in_a_reduced_file(
    cases: tuple[ByFile, ByFile], name: str
):
    whole, reduced = (by_file(f"stubbed {name}/x.py") for by_file in cases)
    assert whole.stub_only == reduced.stub_only
    assert not whole.missing


@pytest.mark.slow
def test_random_programs_are_the_same_reduced(tools: Path, tmp_path: Path):
    sources = {f"p{seed}.py": program(seed).encode() for seed in range(200)}
    sources = {path: source for path, source in sources.items() if is_python(source)}
    whole, reduced = whole_and_reduced(tools, tmp_path, sources)
    assert [path for path in sources if whole(path).missing != reduced(path).missing] == []
    assert sum(len(whole(path).missing) for path in sources) > 500


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_real_packages_are_the_same_reduced(tools: Path, tmp_path: Path):
    files = [file for name in PACKAGES for file in package(name)]
    search = empty_interpreter()
    complete = complete_toolchain(tmp_path / "complete")
    whole = unresolved(complete, tmp_path / "whole", files, search=search)
    reduced = [(path, sufficient_source(source)) for path, source in files]
    assert unresolved(tools, tmp_path / "reduced", reduced, search=search) == whole
    assert len(whole.missing) > 20
    assert whole.stub_only
    assert whole.files == len(files)


def is_python(source: bytes) -> bool:
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True


def package(name: str) -> list[tuple[str, bytes]]:
    """Return the sources of an installed package by their path as in a repository."""
    found = find_spec(name)
    if found is None or found.origin is None:
        return []
    folder = Path(found.origin).parent
    sources = sorted(folder.rglob("*.py"))
    return [(str(path.relative_to(folder.parent)), path.read_bytes()) for path in sources]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with something of every kind that can make a module importable."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder / "venv", symlinks=True)
    site = Path(sysconfig.get_path("purelib", vars={"base": str(folder / "venv")}))
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    for path in (
        "venv_package/__init__.py",
        "venv_module.py",
        "spread/one/__init__.py",
        "typed-stubs/__init__.pyi",
        "yaml-stubs/__init__.pyi",
        "requests/__init__.py",
        "half/__init__.py",
        f"native{suffix}",
        f"with_native/_C{suffix}",
        "with_native/__init__.py",
        "empty_folder/readme.txt",
    ):
        write(site / path)
    write(folder / "editable/src/edited/__init__.py")
    write(folder / "editable/spread/two/__init__.py")
    write(folder / "pythonpath/from_environment.py")
    write(site / "edited.pth", f"{folder}/editable/src\n{folder}/editable\nimport os\n")
    return folder


INSTALLED = """
import venv_package, venv_module, edited, from_environment, native, with_native._C, typed, requests
import spread.one, spread.two
"""
NOT_INSTALLED = (
    "import spread.three, half.nothing, nowhere, yaml, six, empty_folder.sub, with_native.x"
)


def write(path: Path, text: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_the_stand_in_resolves_like_the_interpreter_itself(
    tools: Path, environment: Path, tmp_path: Path
):
    python = environment / "venv/bin/python"
    search = observed(python, {"PYTHONPATH": str(environment / "pythonpath")})
    files = [("a.py", INSTALLED.encode()), ("b.py", NOT_INSTALLED.encode())]
    result = unresolved(tools, tmp_path, files, search=search)
    # A script that does as the reported interpreter would, with the environment that it needs.
    real = tmp_path / "real"
    write(real, f'#!/bin/sh\nPYTHONPATH={environment}/pythonpath exec {python} "$@"\n')
    real.chmod(0o755)
    assert read_unresolved(answer(tools, tmp_path, python=real)) == result
    assert result.missing == {"spread", "half", "nowhere", "empty_folder", "with_native"}
    assert "six" in result.stub_only
    assert "requests" not in result.stub_only


def test_nothing_is_resolved_without_an_environment(tools: Path, tmp_path: Path):
    nothing = SearchPaths(version=(3, 11), prefix="/nowhere", paths=("/nowhere/lib",))
    files = [("a.py", b"import os, json, yaml, torch")]
    assert unresolved(tools, tmp_path, files, search=nothing) == Unresolved(
        missing=frozenset({"torch"}), stub_only=frozenset({"yaml"}), files=1
    )


def test_what_the_tree_holds_is_resolved(tools: Path, tmp_path: Path):
    files = [
        ("setup.py", b"import mine, lib, vendored, tools.x, src.pkg, made"),
        ("src/pkg/x.py", b"import pkg.y, y, root, pkg._C, mine"),
        ("src/pkg/y.py", b""),
        ("src/pkg/_C.cpython-311-x86_64-linux-gnu.so", b""),
        ("src/mine.py", b""),
        ("root.py", b""),
        ("tools/x.py", b""),
        ("lib/__init__.pyi", b"x: int"),
        ("build/made.py", b""),
    ]
    result = unresolved(tools, tmp_path, files, search=empty_interpreter())
    assert result.missing == {"vendored", "made"}


def test_every_file_is_analysed_wherever_it_is(tools: Path, tmp_path: Path):
    folders = (".", ".hidden", "a/.b/c", "...", "__editable__.x", "venv/lib", "ä b", "-x", "**")
    files = [
        (f"{folder}/f{n}.py", f"import m{n}, g{n}".encode()) for n, folder in enumerate(folders)
    ]
    files += [(f"{folder}/g{n}.py", b"") for n, folder in enumerate(folders)]
    result = unresolved(tools, tmp_path, files, search=empty_interpreter())
    assert result.missing == {f"m{n}" for n in range(len(folders))}
    assert result.files == len(files)


def test_no_configuration_is_read_but_ours(tools: Path, tmp_path: Path):
    off = '{"reportMissingImports": "none", "exclude": ["**"]}'
    write(tmp_path / "pyrightconfig.json", off)
    write(tmp_path / "pyproject.toml", '[tool.pyright]\nreportMissingImports = "none"\n')
    write_tree(tmp_path / "a", files=[("x.py", b"import a")], search=empty_interpreter())
    write(tmp_path / "a/tree/pyproject.toml", '[tool.pyright]\nreportMissingImports = "none"\n')
    write(tmp_path / "a/pyrightconfig.json", off)
    assert read_unresolved(answer(tools, tmp_path / "a")).missing == {"a"}


@pytest.mark.parametrize(
    "path", ["/x.py", "../x.py", "a/../../x.py", "pyrightconfig.json", "", "."]
)
def test_a_path_that_leads_out_is_refused(tmp_path: Path, path: str):
    with pytest.raises(
        ToolchainError, match=r"is not the path of a source file in a repository\.$"
    ):
        write_tree(tmp_path, files=[(path, b"")], search=empty_interpreter())


def test_the_stand_in_answers_any_path_and_nothing_but_it():
    paths = ("/it's", '/"$(id)"\\', "/ä\nb`id`", "/%s")
    search = replace(empty_interpreter(), paths=paths, prefix="/p'")
    run = subprocess.run(["sh", "-c", render_interpreter(search)], capture_output=True, check=True)
    assert json.loads(run.stdout) == {"path": list(paths), "prefix": "/p'"}


def test_what_is_placed_runs_without_anything_else(tools: Path, tmp_path: Path):
    write_tree(tmp_path, files=[("x.py", b"import a")], search=empty_interpreter())
    names = sorted(path.name for path in tools.iterdir())
    assert names == ["node", "pyright"]
    assert {path.stat().st_mode & 0o444 for path in tools.rglob("*")} == {0o444}
    run = subprocess.run(
        build_command(tools=str(tools), folder=str(tmp_path)),
        cwd="/",
        env=dict(ENVIRONMENT),
        timeout=60,
        capture_output=True,
    )
    assert read_unresolved(json.loads(run.stdout)).missing == {"a"}
    assert json.loads(run.stdout)["version"] == find_toolchain().version


def test_the_configuration_names_the_version_and_the_two_rules():
    assert build_config((3, 9)) == {
        "include": ["."],
        "pythonVersion": "3.9",
        "pythonPlatform": "Linux",
        "typeCheckingMode": "off",
        "useLibraryCodeForTypes": False,
        "reportMissingImports": "error",
        "reportMissingModuleSource": "warning",
    }


@pytest.mark.parametrize("may_link", [True, False])
def test_what_can_be_written_to_is_no_file_of_the_harness(tmp_path: Path, may_link: bool):
    copy_toolchain(find_toolchain(), tmp_path / "tools", may_link=may_link)
    own = {path.stat().st_ino for path in find_toolchain().bundle.rglob("*") if path.is_file()}
    own.add(find_toolchain().node.stat().st_ino)
    placed = {path.stat().st_ino for path in (tmp_path / "tools").rglob("*") if path.is_file()}
    assert bool(own & placed) is may_link
