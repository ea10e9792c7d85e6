"""C0 on small cases built from public reports: what Python imports passes, and nothing else.

pytest tests/imports/test_cases.py              without an index
pytest tests/imports/test_cases.py -m slow      those that install from one; REB_C0_FULL=1: and much
"""

import os
import shutil
from pathlib import Path

import pytest

from reb_action.model.manifest import Outcome
from tests.support.import_world import World, judge, observe, really_imports

CODE = "".join(f"def f{n}(x):\n    return [x + {n}, x * {n}, x - {n}]\n" for n in range(20))
SMALL = "def double(x):\n    return 2 * x\n"

EXTENSION = """
#include <Python.h>
static struct PyModuleDef m = {PyModuleDef_HEAD_INIT, "fastmod", 0, -1, 0};
PyMODINIT_FUNC PyInit_fastmod(void) { return PyModule_Create(&m); }
"""
SETUP_EXTENSION = """
from setuptools import setup, Extension
setup(name='fastmod', ext_modules=[Extension('fastmod', ['fastmod.c'])])
"""


def main(text, **other):
    """Return a world with one file."""
    return World(files={"main.py": text}, **other)


def project(name, *, backend, requires, layout="src", more=""):
    """Return shell that writes a small distribution to ~/deps/NAME."""
    folder = f"$HOME/deps/{name}"
    at = f"{folder}/{layout}/{name}" if layout else f"{folder}/{name}"
    toml = (
        f'[build-system]\\nrequires = [{requires}]\\nbuild-backend = "{backend}"\\n'
        f'[project]\\nname = "{name}"\\nversion = "1.0"\\n{more}'
    )
    return (
        f"mkdir -p {at}; cat > {at}/__init__.py <<'T'\n{CODE}T\n"
        f"printf '{toml}' > {folder}/pyproject.toml\n"
    )


def namespaced(name):
    """Return shell that writes a distribution with one part of the namespace `nsdemo`."""
    return (
        f"D=$HOME/deps/{name}; mkdir -p $D/src/nsdemo/{name}\n"
        f"cat > $D/src/nsdemo/{name}/__init__.py <<'T'\n{CODE}T\n"
        'printf \'[build-system]\\nrequires = ["setuptools>=68"]\\n'
        'build-backend = "setuptools.build_meta"\\n'
        f'[project]\\nname = "nsdemo-{name}"\\nversion = "1.0"\\n[tool.setuptools]\\n'
        f'packages = ["nsdemo.{name}"]\\npackage-dir = {{"nsdemo.{name}" = "src/nsdemo/{name}"}}\\n'
        "' > $D/pyproject.toml\n"
    )


SETUPTOOLS = {"backend": "setuptools.build_meta", "requires": '"setuptools>=68"'}

PLAIN = {
    "byte order mark": main(b"\xef\xbb\xbfimport absent_bom\n", absent=("absent_bom",)),
    "carriage returns only": main(b"import json\rimport absent_cr", absent=("absent_cr",)),
    "line ends of Windows": main(b"import json\r\nimport absent_crlf\r\n", absent=("absent_crlf",)),
    "Latin-1": main(
        b"# -*- coding: latin-1 -*-\nNAME = 'caf\xe9'\nimport absent_latin\n",
        absent=("absent_latin",),
    ),
    "Shift-JIS": main(
        b"# -*- coding: shift_jis -*-\nNAME = '\x83\x5c'\nimport absent_sjis\n",
        absent=("absent_sjis",),
    ),
    "GBK": main(
        b"# coding=gbk\nNAME = '\xd6\xd0\x81\x5c'\nimport absent_gbk\n", absent=("absent_gbk",)
    ),
    "larger than 4 MiB": main(
        b"import absent_big\nDATA = '''" + b"x" * (5 << 20) + b"'''\nimport absent_end\n",
        absent=("absent_big", "absent_end"),
    ),
    "names that differ in case": World(
        files={"main.py": "from Bio import Seq\n", "bio/__init__.py": ""}, absent=("Bio",)
    ),
    "names beyond ASCII": World(files={"main.py": "import größe\n", "größe.py": "WERT = 1\n"}),
    "linked file": World(
        files={"train/main.py": "import helper\n", "lib/shared.py": "VALUE = 1\n"},
        links={"train/helper.py": "../lib/shared.py"},
        run="train/main.py",
    ),
    "linked folder": World(
        files={
            "train/main.py": "import common.tools\n",
            "libs/common/__init__.py": "VALUE = 1\n",
            "libs/common/tools.py": SMALL,
        },
        links={"train/common": "../libs/common"},
        run="train/main.py",
    ),
    "optional": main("try:\n    import absent_opt\nexcept ImportError:\n    absent_opt = None\n"),
    "optional, but then it leaves": main(
        "try:\n    import absent_opt\nexcept ImportError:\n    raise SystemExit('install it')\n",
        absent=("absent_opt",),
    ),
    "one instead of another": main(
        "try:\n    import absent_one\nexcept ImportError:\n    import absent_two\n",
        absent=("absent_two",),
    ),
    "one that is there instead of another": main(
        "try:\n    import json as j\nexcept ImportError:\n    import absent_two\n"
    ),
    "own part of a namespace": World(
        files={
            "main.py": "from zope.interface import Interface\n",
            "zope/__init__.py": "import pkgutil\n"
            "__path__ = pkgutil.extend_path(__path__, __name__)\n",
            "zope/mytest/__init__.py": "",
        },
        absent=("zope",),
    ),
    "folder that an installed package hides": World(
        files={"main.py": "from both.mine import double\n", "both/mine.py": SMALL},
        script=f"mkdir $SITE/both; cat > $SITE/both/__init__.py <<'T'\n{CODE}T\n",
        absent=("both.mine",),
    ),
    "folder that Python joins to an installed one": World(
        files={"main.py": "import both.mine, both.theirs\n", "both/mine.py": SMALL},
        script=f"mkdir $SITE/both; cat > $SITE/both/theirs.py <<'T'\n{CODE}T\n",
    ),
    "own part of a namespace, whose other part is made as a hidden package runs": World(
        files={
            "main.py": "import both.made\n",
            "both/__init__.py": "import pkgutil\n"
            "__path__ = pkgutil.extend_path(__path__, __name__)\n",
        },
        script=f"mkdir $SITE/both; cat > $SITE/both/__init__.py <<'T'\n{CODE}"
        "import sys, types\nsys.modules['both.made'] = types.ModuleType('both.made')\nT\n",
        absent=("both.made",),
    ),
    "name that a package never has": main(
        "from whole import f1, gone\n",
        script=f"mkdir $SITE/whole; cat > $SITE/whole/__init__.py <<'T'\n{CODE}T\n",
        absent=("whole.gone",),
    ),
    "name that another module gives a package": main(
        "from whole import late\n",
        script=f"mkdir $SITE/whole; cat > $SITE/whole/__init__.py <<'T'\n{CODE}"
        "from . import more\nT\n"
        'echo "import sys; sys.modules[__package__].late = 1" > $SITE/whole/more.py',
    ),
    "name that a package takes from all that another module has": main(
        "from whole import late\n",
        script=f"mkdir $SITE/whole; cat > $SITE/whole/__init__.py <<'T'\n{CODE}"
        "from .more import *\nT\n"
        'echo "late = 1" > $SITE/whole/more.py',
    ),
    "own folder of a namespace": World(
        files={"main.py": "from google.cloud import storage\n", "google/own/part.py": ""},
        absent=("google",),
    ),
    "pyright's ignore": main("import absent_pyr  # pyright: ignore\n", absent=("absent_pyr",)),
    "type ignore": main("import absent_ti  # type: ignore\n", absent=("absent_ti",)),
    "type ignore with a code": main(
        "import absent_ti3  # type: ignore[import]\n", absent=("absent_ti3",)
    ),
    "type ignore of the file": main(
        "# type: ignore\nimport absent_whole\n", absent=("absent_whole",)
    ),
    "pyright's switch": main(
        "# pyright: reportMissingImports=false\nimport absent_off\n", absent=("absent_off",)
    ),
    "module on a .pth path": main(
        "import tinyhelp\n",
        script="mkdir $HOME/lib; printf 'def double(x):\\n    return 2 * x\\n' >"
        ' $HOME/lib/tinyhelp.py; echo "$HOME/lib" > $SITE/conda.pth',
    ),
    "another platform": main(
        "import sys, os\nif sys.platform == 'win32':\n    import absent_win\n"
        "if os.name == 'nt':\n    import absent_nt\n"
    ),
    "type checking": main(
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from absent_tc import X\n"
    ),
    "wrapper in a package": World(
        files={"pkg/__init__.py": "", "pkg/posthog.py": "from posthog import Posthog\n"},
        run="-mpkg.posthog",
        absent=("posthog",),
    ),
    "folder of a name": World(
        files={"gradio/app.py": "import gradio as gr\ngr.Blocks()\n"},
        run="gradio/app.py",
        absent=("gradio",),
    ),
    "folder on the path by hand": World(
        files={
            "scripts/main.py": "import os, sys\nROOT = os.path.dirname(os.path.abspath(__file__))\n"
            "sys.path.append(os.path.join(ROOT, '..', 'tools'))\nimport mytool\n",
            "tools/mytool.py": SMALL,
        },
        run="scripts/main.py",
    ),
    "folder that is not on the path": World(
        files={"scripts/main.py": "import mytool\n", "tools/mytool.py": SMALL},
        run="scripts/main.py",
        absent=("mytool",),
    ),
}

NEWER = {
    "syntax of 3.12": main(
        "type Pair[T] = tuple[T, T]\nimport absent_312\n",
        python="python3.12",
        absent=("absent_312",),
    ),
    "removed from the standard library": main(
        "import distutils.util\nimport imp\n", python="python3.12", absent=("distutils", "imp")
    ),
}

INDEX = {
    "built in place": World(
        files={"main.py": "import fastmod\n", "fastmod.c": EXTENSION, "setup.py": SETUP_EXTENSION},
        script="$PIP setuptools; $PY setup.py -q build_ext --inplace 2>&1 | tail -2",
    ),
    "compiled only": main(
        "import ujson\nimport _cffi_backend\nimport yaml._yaml\n", script="$PIP ujson cffi pyyaml"
    ),
    "editable by meson-python": main(
        "import mesdemo\n",
        script=project("mesdemo", backend="mesonpy", requires='"meson-python"', layout="")
        + "printf \"project('mesdemo', version: '1.0')\\n"
        "py = import('python').find_installation()\\n"
        "py.install_sources('mesdemo/__init__.py', subdir: 'mesdemo')\\n\""
        " > $HOME/deps/mesdemo/meson.build\n"
        "$PIP meson-python meson ninja; $PIP --no-build-isolation -e $HOME/deps/mesdemo",
    ),
    "editable by scikit-build-core": main(
        "import skbdemo\n",
        script=project("skbdemo", backend="scikit_build_core.build", requires='"scikit-build-core"')
        + "printf 'cmake_minimum_required(VERSION 3.15)\\nproject(skbdemo NONE)\\n'"
        " > $HOME/deps/skbdemo/CMakeLists.txt\n$PIP cmake ninja; $PIP -e $HOME/deps/skbdemo",
    ),
    "editable by hatchling, exact": main(
        "import exactdemo\n",
        script=project(
            "exactdemo",
            backend="hatchling.build",
            requires='"hatchling"',
            more="[tool.hatch.build]\\ndev-mode-exact = true\\n",
        )
        + "$PIP editables; $PIP -e $HOME/deps/exactdemo",
    ),
    "editable by setuptools, strict": main(
        "import strictdemo\n",
        script=project("strictdemo", **SETUPTOOLS)
        + "$PIP -e $HOME/deps/strictdemo --config-settings editable_mode=strict",
    ),
    "editable by uv": main(
        "import uvdemo\n",
        script=project("uvdemo", backend="uv_build", requires='"uv_build"')
        + "$PIP -e $HOME/deps/uvdemo",
    ),
    "editable by setup.py develop": main(
        "import devdemo\n",
        script=f"D=$HOME/deps/s; mkdir -p $D/devdemo; cat > $D/devdemo/__init__.py <<'T'\n{CODE}T\n"
        'printf \'from setuptools import setup\\nsetup(name="devdemo", packages=["devdemo"])\\n\''
        " > $D/setup.py; $PIP 'setuptools<70'; (cd $D && $PY setup.py -q develop) 2>&1 | tail -2",
    ),
    "namespace, one part editable": main(
        "import nsdemo.one\nimport nsdemo.two\n",
        script=namespaced("one")
        + namespaced("two")
        + "$PIP $HOME/deps/one; $PIP -e $HOME/deps/two",
    ),
    "namespace, one part missing": main(
        "import nsdemo.one\nimport nsdemo.two\n",
        script=namespaced("one") + "$PIP $HOME/deps/one",
        absent=("nsdemo.two",),
    ),
    "namespace, editable alone": main(
        "import nsdemo.two\n", script=namespaced("two") + "$PIP -e $HOME/deps/two"
    ),
    "modules that six makes": main(
        "from six.moves import range\nimport six.moves.urllib as u\n"
        "from six.moves import cPickle as pickle\nfrom six.moves.urllib.request import urlopen\n",
        script="$PIP six",
    ),
    "packages that requests has": main(
        "import requests.packages.urllib3\nfrom requests.packages.urllib3.util import retry\n",
        script="$PIP requests",
    ),
    "part that is gone": main(
        "from click import command\nfrom click.no_such_part import x\n",
        script="$PIP click",
        absent=("click.no_such_part",),
    ),
    "environment in the checkout": main(
        "import six\n",
        script="rm -rf $HOME/venv; python3 -m venv --without-pip .venv;"
        " ln -s $PWD/.venv $HOME/venv; $PIP six",
    ),
    "distutils of setuptools": main(
        "import distutils.util\n", python="python3.12", script="$PIP 'setuptools<81'"
    ),
}

LARGE = {
    "tensorflow.keras": main(
        "from tensorflow.keras import layers\n", script="$PIP tensorflow-cpu==2.15.1"
    )
}


def check(world, sandbox):
    """Hold C0's answer against the right one, and the right one against Python's own."""
    seen = observe(world, sandbox)
    found = tuple(sorted(one.module for one in seen.absent))
    python = Path(sandbox.layout.home) / "venv" / "bin" / "python"
    runs = really_imports(world, Path(sandbox.layout.repository), python)
    result = judge(seen)
    assert (found, runs, result.outcome) == (
        tuple(sorted(world.absent)),
        not world.absent,
        Outcome.FAILED if world.absent else Outcome.PASSED,
    ), result.reason


@pytest.mark.parametrize("world", PLAIN.values(), ids=PLAIN)
def test_case_without_an_index_is_right(world, scratch):
    check(world, scratch)


@pytest.mark.skipif(shutil.which("python3.12") is None, reason="this machine has no python3.12")
@pytest.mark.parametrize("world", NEWER.values(), ids=NEWER)
def test_case_of_a_newer_python_is_right(world, scratch):
    check(world, scratch)


@pytest.mark.slow
@pytest.mark.parametrize("world", INDEX.values(), ids=INDEX)
@pytest.mark.timeout(900)
def test_case_that_installs_from_an_index_is_right(world, scratch):
    check(world, scratch)


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("REB_C0_FULL"), reason="REB_C0_FULL is not set")
@pytest.mark.parametrize("world", LARGE.values(), ids=LARGE)
@pytest.mark.timeout(900)
def test_case_that_installs_much_is_right(world, scratch):
    check(world, scratch)


def test_folder_without_sources_counts_for_the_paper_as_pyright_counts_it(scratch):
    world = World(files={"main.py": "import kept, gone\n", "kept/.gitkeep": ""})
    seen = observe(world, scratch)
    assert seen.missing == ("gone",)
    assert [one.name for one in seen.absent] == ["gone", "kept"]
