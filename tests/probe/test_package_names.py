"""pyright says the same of an environment's names as of its packages themselves."""

import re
import shutil
from pathlib import Path

from reb_action.corpus.manifests import load
from reb_action.probe import toolchain
from reb_action.probe.context import ProbeContext, reveal
from reb_action.probe.imports import _place
from reb_action.probe.package_names import list_names
from reb_action.probe.pyright import Tree, resolve
from reb_action.probe.toolchain import SearchPaths
from tests.support.pyright_run import complete_toolchain

SKIP = "from typing import NoReturn\ndef skip() -> NoReturn: ...\ndef plain() -> int: ...\n"
CATCH = "class Catch:\n def __enter__(self): ...\n def __exit__(self, *_) -> bool: ...\n"
CATCH += "def raises(kind) -> Catch: ...\n"

CASES = {
    "package": ({"a/__init__.py": "x = 1"}, "import a", []),
    "part of a package": ({"a/__init__.py": "", "a/b.py": ""}, "import a.b", []),
    "part that is missing": ({"a/__init__.py": ""}, "import a.b", ["a"]),
    "part in a module that is no package": ({"a.py": ""}, "import a.b", ["a"]),
    "value of a package": ({"a/__init__.py": "x = 1"}, "from a import x", []),
    "name that a package lacks": ({"a/__init__.py": ""}, "from a import x", []),
    "nothing": ({}, "import a", ["a"]),
    "another case of letters": ({"A/__init__.py": ""}, "import a", ["a"]),
    "namespace": ({"a/b/__init__.py": ""}, "import a.b", []),
    "namespace alone": ({"a/b/__init__.py": ""}, "import a", []),
    "namespace, part from it": ({"a/b.py": ""}, "from a import b", []),
    "namespace, part that is missing": ({"a/c.py": ""}, "from a import b", []),
    "namespace, all of it": ({"a/c.py": ""}, "from a import *", []),
    "folder without a module": ({"a/readme.txt": ""}, "import a", []),
    "compiled": ({"a.cpython-311-x86_64-linux-gnu.so": ""}, "import a", []),
    "compiled part": ({"a/__init__.py": "", "a/b.abi3.so": ""}, "import a.b", []),
    "compiled package": ({"a/__init__.cpython-311-x86_64-linux-gnu.so": ""}, "import a", []),
    "stub beside a package": ({"a/__init__.py": "", "a/__init__.pyi": ""}, "import a", []),
    "stub alone": ({"a/__init__.pyi": ""}, "import a", []),
    "stubs of their own": ({"a-stubs/__init__.pyi": ""}, "import a", []),
    "stubs of their own, and the package": (
        {"a-stubs/__init__.pyi": "", "a/__init__.py": ""}, "import a", []
    ),
    "stubs of a part": (
        {"a-stubs/py.typed": "partial\n", "a-stubs/b.pyi": "", "a/__init__.py": "", "a/c.py": ""},
        "import a.b, a.c", [],
    ),
    "stubs that lack a part": (
        {"a-stubs/__init__.pyi": "", "a/__init__.py": "", "a/c.py": ""}, "import a.c", ["a"]
    ),
    "stubs that know a name": (
        {"a-stubs/__init__.pyi": "b: int", "a-stubs/b.pyi": ""}, "from a import b", []
    ),
    "stub that pyright brings": ({}, "import yaml, requests", []),
    "stub that pyright brings, and a typed package": (
        {"regex/__init__.py": "", "regex/py.typed": ""}, "import regex", []
    ),
    "stub that pyright brings, and a part": (
        {"simplejson/__init__.py": "", "simplejson/more.py": ""},
        "import simplejson.more, simplejson.other", ["simplejson"],
    ),
    "code behind a call that never returns": (
        {"a/__init__.py": SKIP, "a/py.typed": ""}, "import a\na.skip()\nimport docutils, b", ["b"]
    ),
    "code behind a call of another package": (
        {"a/__init__.py": "from _a import skip as skip", "_a/__init__.py": SKIP, "a/py.typed": "",
         "_a/py.typed": ""},
        "from a import skip\nskip()\nimport psutil", [],
    ),
    "code behind a call that returns": (
        {"a/__init__.py": SKIP, "a/py.typed": ""}, "import a\na.plain()\nimport pexpect", []
    ),
    "code behind what catches": (
        {"a/__init__.py": CATCH, "a/py.typed": ""},
        "import a\ndef f():\n with a.raises(Exception):\n  import b\n  raise\n import tabulate",
        ["b"],
    ),
    "file that Python cannot parse": (
        {"a/__init__.py": "", "c/d.py": ""},
        "print 'x'\nimport a.b\nfrom c import (d,\n e)\n", ["a"],
    ),
}  # fmt: skip


def numbered(text, number):
    """Give the names of one case a number, so that all cases stand in one environment."""
    return re.sub(r"(?<!\w)(_?[abcA])(?!\w|')", rf"\g<1>{number}", text)


def test_names_stand_for_packages(scratch, tmp_path):
    files, missing = {}, set()
    site = tmp_path / "site"
    for number, (packages, source, lacking) in enumerate(CASES.values()):
        files[f"case{number}.py"] = numbered(source, number).encode()
        missing |= {numbered(name, number) for name in lacking}
        for path, text in packages.items():
            place = site / numbered(path, number)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(numbered(text, number))
    manifest = load(Path(__file__).parents[1] / "demo" / "manifest.yaml")
    context = ProbeContext(sandbox=scratch, mount=Path(scratch.spec.mount), manifest=manifest)
    reveal(context.mount, manifest)
    search = SearchPaths(version=(3, 11), prefix="", paths=(str(site), str(tmp_path / "none")))
    shutil.rmtree(context.mount / "toolchain", ignore_errors=True)
    complete_toolchain(context.mount / "toolchain")
    packages = resolve(context, Tree(files=files, search=search))
    shutil.rmtree(context.mount / "toolchain")
    _place(context, toolchain.find_toolchain())
    names = list_names(context, files, search)
    seen = resolve(context, Tree(files=files, search=search, names=names))
    assert (seen, packages.missing) == (packages, missing)
    brought = {"yaml", "requests", "docutils", "psutil", "pexpect", "regex", "tabulate"}
    assert brought & packages.stub_only == {"yaml", "requests", "pexpect", "tabulate"}
