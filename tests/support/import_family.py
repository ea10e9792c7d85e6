"""A family of small repositories and environments, each drawn from a seed; Python decides."""

import random
import textwrap
from dataclasses import dataclass

from tests.support.import_world import World

WORK = "".join(f"def f{n}(x):\n    return [x + {n}, x * {n}, x - {n}]\n" for n in range(20))
WORK += "def work():\n    return 1\n"
NAME = "target"

# A folder of the repository without __init__.py is no package that a name alone could mean.
MEANT = (
    "if not getattr({0}, '__file__', None) and 'site-packages' not in str({0}.__path__):\n"
    "    raise ImportError('{0} is a folder of the repository')\n"
)
FORMS = {
    "name": f"import {NAME}\n" + MEANT.format(NAME),
    "alias": f"import {NAME} as t\n" + MEANT.format("t"),
    "from name": f"from {NAME} import work\n",
    "part": f"import {NAME}.part\n",
    "from part": f"from {NAME}.part import work\n",
    "part from name": f"from {NAME} import part\n",
    "two": f"import {NAME}.part as p, {NAME}\n",
}

CONDITIONS = {
    "plain": "{}",
    "in a function": "def run():\n{}\nrun()\n",
    "in a class": "class C:\n{}\n",
    "optional": "try:\n{}\nexcept ImportError:\n    pass\n",
    "optional of everything": "try:\n{}\nexcept Exception:\n    print('without')\n",
    "optional by suppress": (
        "import contextlib\nwith contextlib.suppress(ImportError, AttributeError):\n{}\n"
    ),
    "needed": (
        "try:\n{}\nexcept ImportError as error:\n    raise SystemExit('no target') from error\n"
    ),
    "other error": "try:\n{}\nexcept KeyError:\n    pass\n",
    "Windows": "import sys\nif sys.platform == 'win32':\n{}\n",
    "Linux": "import sys\nif sys.platform.startswith('linux'):\n{}\n",
    "old Python": "import sys\nif sys.version_info < (3, 8):\n{}\n",
    "new Python": "import sys\nif sys.version_info[:2] >= (3, 8):\n{}\n",
    "types": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n{}\n",
    "not types": "import typing\nif not typing.TYPE_CHECKING:\n{}\n",
    "never": "if False:\n{}\n",
    "ignored": "{}# type: ignore\n",
}

ENCODINGS = {
    "UTF-8": lambda text: ("# größe\n" + text).encode(),
    "mark": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "Latin-1": lambda text: b"# coding: latin-1\nS = 'caf\xe9'\n" + text.encode(),
    "GBK": lambda text: b"# -*- coding: gbk -*-\nS = '\x81\x5c'\n" + text.encode(),
    "Shift-JIS": lambda text: b"# coding=shift_jis\nS = '\x83\x5c'\n" + text.encode(),
    "Windows": lambda text: text.replace("\n", "\r\n").encode(),
    "plain": lambda text: text.encode(),
}

COMPILED = """
#include <Python.h>
static struct PyModuleDef m = {PyModuleDef_HEAD_INIT, NAME, 0, -1, 0};
PyMODINIT_FUNC INIT(void) {
  PyObject *made = PyModule_Create(&m);
  PyModule_AddIntConstant(made, "work", 1);
  return made;
}
"""
MAKING = f"""
import sys, types
part = sys.modules["{NAME}.part"] = types.ModuleType("part")
part.work = work
"""
SOURCE = {f"{NAME}/__init__.py": WORK, f"{NAME}/part.py": WORK}
LISTED = f"{NAME}-1.dist-info/RECORD"

# What stands in site-packages; `{deps}` is a folder beside the environment.
ENVIRONMENTS = {
    "nothing": {},
    "other": {"other/__init__.py": WORK},
    "package": SOURCE | {LISTED: f"{NAME}/__init__.py,,\n"},
    "small package": {
        f"{NAME}/__init__.py": "def work(): return 1\n",
        f"{NAME}/part.py": "def work(): return 1\n",
        LISTED: f"{NAME}/__init__.py,,\n",
    },
    "module": {f"{NAME}.py": WORK, LISTED: f"{NAME}.py,,\n"},
    "copied": SOURCE,
    "compiled": {f"{NAME}.so": COMPILED, LISTED: f"{NAME}.so,,\n"},
    "compiled part": {f"{NAME}/__init__.py": WORK, f"{NAME}/part.so": COMPILED},
    "without its part": {f"{NAME}/__init__.py": WORK, LISTED: f"{NAME}/__init__.py,,\n"},
    "namespace": {f"{NAME}/part.py": WORK},
    "namespace of another": {f"{NAME}/another.py": WORK},
    "stubs": {f"{NAME}-stubs/__init__.pyi": "def work() -> int: ...\n"},
    "only stubs": {f"{NAME}/__init__.pyi": WORK, f"{NAME}/py.typed": ""},
    "hollow": {f"{NAME}/__init__.py": "", LISTED: f"{NAME}/__init__.py,,\n"},
    "made at import": {
        f"{NAME}/__init__.py": WORK + MAKING,
        LISTED: f"{NAME}/__init__.py,,\n",
    },
    "extended path": {
        f"{NAME}/__init__.py": WORK
        + "import os\n__path__.append(os.path.join(__path__[0], 'more'))\n",
        f"{NAME}/more/part.py": WORK,
    },
    "path file": {"dev.pth": "{deps}\n", "{deps}": SOURCE},
    "links": {"__editable__.pth": "{deps}/farm\n", "{deps}": SOURCE, "{link}": f"farm/{NAME}"},
    "setuptools": {
        "__editable___target_finder.py": (
            "import sys\nfrom importlib.machinery import ModuleSpec\n"
            "from importlib.util import spec_from_file_location\n"
            f"MAPPING = {{'{NAME}': '{{deps}}/{NAME}'}}\n"
            "class Finder:\n"
            "    @classmethod\n"
            "    def find_spec(cls, name, path=None, target=None):\n"
            "        if name in MAPPING:\n"
            "            place = MAPPING[name] + '/__init__.py'\n"
            "            return spec_from_file_location(name, place)\n"
            "def install():\n    sys.meta_path.append(Finder)\n"
        ),
        "__editable__.target.pth": (
            "import __editable___target_finder; __editable___target_finder.install()\n"
        ),
        "{deps}": SOURCE,
    },
    "module by module": {
        "_target_editable_loader.py": (
            "import sys\nfrom importlib.util import spec_from_file_location\n"
            f"TREE = {{'{NAME}': '__init__', '{NAME}.part': 'part'}}\n"
            "class Finder:\n"
            "    def find_spec(self, name, path=None, target=None):\n"
            "        if name in TREE:\n"
            f"            place = '{{deps}}/{NAME}/' + TREE[name] + '.py'\n"
            "            return spec_from_file_location(\n"
            "                name, place,\n"
            f"                submodule_search_locations=[] if name == '{NAME}' else None)\n"
            "sys.meta_path.insert(0, Finder())\n"
        ),
        "target-editable.pth": "import _target_editable_loader\n",
        "{deps}": SOURCE,
    },
}

FULL = SOURCE | {LISTED: f"{NAME}/__init__.py,,\n"}

STARTING = """
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "src"))
import pkg.mod
"""

# Where a file stands that imports the target, and the script that runs it.
LAYOUTS = {
    "root": ("main.py", "main.py", ""),
    "scripts": ("scripts/main.py", "scripts/main.py", ""),
    "package": ("pkg/mod.py", "main.py", "import pkg.mod\n"),
    "package, from": ("pkg/sub/mod.py", "main.py", "from pkg.sub import mod\n"),
    "folder": ("ns/sub/mod.py", "main.py", "import ns.sub.mod\n"),
    "src": (
        "src/pkg/mod.py",
        "main.py",
        STARTING,
    ),
    "package of a script": ("tools/lib/mod.py", "tools/run.py", "import lib.mod\n"),
    "relative": ("pkg/mod.py", "main.py", "import pkg.first\n"),
}
INITS = {"pkg", "pkg/sub", "src/pkg", "tools/lib"}

SHADOWS = {
    "none": {},
    "module beside": {"{beside}/target.py": WORK},
    "package beside": {"{beside}/target/__init__.py": WORK, "{beside}/target/part.py": WORK},
    "folder beside": {"{beside}/target/part.py": WORK},
    "folder of others beside": {"{beside}/target/others.py": WORK},
    "module at the root": {"target.py": WORK},
    "package at the root": {"target/__init__.py": WORK, "target/part.py": WORK},
    "folder at the root": {"target/part.py": WORK},
    "folder of others at the root": {"target/others.py": WORK},
    "elsewhere": {"elsewhere/target.py": WORK},
    "package elsewhere": {"elsewhere/target/__init__.py": WORK, "elsewhere/target/part.py": WORK},
    "vendored": {"vendor/target/__init__.py": WORK, "vendor/target/part.py": WORK},
    "vendored, on the path": {"vendor/target/__init__.py": WORK, "vendor/target/part.py": WORK},
    "part of a namespace at the root": {
        "target/__init__.py": "__path__ = __import__('pkgutil').extend_path(__path__, __name__)\n"
        + WORK,
        "target/others.py": WORK,
    },
    "itself": {},
}

VENDOR = (
    "import sys, pathlib\n"
    "sys.path.insert(0, str(pathlib.Path(__file__).resolve().{above} / 'vendor'))\n"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Member:
    """A repository of the family: what was drawn, and the environment's files."""

    drawn: tuple[str, ...]
    world: World
    site: dict[str, object]

    @property
    def counts(self) -> bool:
        """Whether what the environment has of the name counts as installed, by C0's rule."""
        return self.drawn[2] not in ("hollow", "only stubs")


def member(seed: int) -> Member:
    """Return the member of the family that a seed draws."""
    draw = random.Random(seed)
    kinds = (LAYOUTS, SHADOWS, ENVIRONMENTS, FORMS, CONDITIONS, ENCODINGS)
    drawn = tuple(draw.choice(sorted(kind)) for kind in kinds)
    layout, shadow, environment, form, condition, encoding = drawn
    path, script, start = LAYOUTS[layout]
    if shadow == "itself" and "/" in path and path != script:
        start = start.replace("mod", NAME) if layout != "relative" else start
        path = path.replace("mod.py", f"{NAME}.py")
    text = _text(FORMS[form], CONDITIONS[condition])
    beside = path.rpartition("/")[0]
    if shadow == "vendored, on the path":
        above = "parent" + ".parent" * path.count("/")
        text = VENDOR.format(above=above) + text
    files: dict[str, bytes | str] = {script: start}
    if layout == "relative":
        files["pkg/first.py"] = f"from .{path[4:-3]} import __name__ as n\n"
    files[path] = ENCODINGS[encoding](text)
    for folder in INITS:
        if path.startswith(f"{folder}/"):
            files[f"{folder}/__init__.py"] = ""
    for name, content in SHADOWS[shadow].items():
        files.setdefault(name.replace("{beside}/", f"{beside}/" if beside else ""), content)
    world = World(files=files, run=script)
    return Member(drawn=drawn, world=world, site=ENVIRONMENTS[environment])


def _text(form: str, condition: str) -> str:
    if condition.startswith("{}"):
        first, _, rest = form.partition("\n")
        return condition.format(f"{first}  ").rstrip("\n") + f"\n{rest}"
    return condition.format(textwrap.indent(form, "    "))
