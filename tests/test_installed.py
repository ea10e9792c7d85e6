"""What counts as installed: everything that people install, and no stub."""

import json
import os
import subprocess
import sys

import pytest

from reb_action.layout import data_folder
from reb_action.probing.installed import UNLISTED_BYTES, Module

PROBE = data_folder("probes") / "installed.py"
CODE = "def work():\n    return 1\n"
LARGE = CODE * (UNLISTED_BYTES // 10)
ELF = "\x7fELF native"


def hollow(folder, files, *entries):
    """Return whether `thing` is hollow among these files; None if it is not there."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    paths = [str(folder / entry) for entry in entries or ("",)]
    asked = folder / "question.json"
    asked.write_text(json.dumps({"search_paths": paths, "names": ["thing"]}))
    argv = [sys.executable, "-I", "-S", str(PROBE), str(asked)]
    answer = json.loads(subprocess.run(argv, capture_output=True, check=True, timeout=60).stdout)
    found = [Module(**module) for module in answer["modules"]]
    return found[0].is_hollow if found else None


RECORD = "thing-1.dist-info/RECORD"

INSTALLED = {
    "small module of a wheel": {"thing.py": CODE, RECORD: "thing.py,,\n"},
    "extension of a wheel": {"thing.abi3.so": ELF, RECORD: "thing.abi3.so,,\n"},
    "package with an empty init": {
        "thing/__init__.py": "",
        "thing/core.py": CODE,
        RECORD: "thing/__init__.py,,\nthing/core.py,,\n",
    },
    "namespace package": {"thing/part/core.py": CODE, RECORD: "thing/part/core.py,,\n"},
    "without sources": {"thing/__init__.pyc": "code", RECORD: "thing/__init__.pyc,,\n"},
    "old metadata": {"thing.py": CODE, "thing.egg-info/top_level.txt": "thing\n"},
    "copied by hand": {"thing/__init__.py": "", "thing/core.py": LARGE},
    "package of Debian": {"thing.py": LARGE, "Thing-1.egg-info": "Name: Thing\n"},
}

STUBS = {
    "empty module": {"thing.py": ""},
    "empty package": {"thing/__init__.py": ""},
    "only a comment": {"thing.py": "# to be done\n", RECORD: "thing.py,,\n"},
    "empty package with metadata": {"thing/__init__.py": "", RECORD: "thing/__init__.py,,\n"},
    "only a version": {"thing.py": "__version__ = '1.0'\n"},
    "only types": {"thing/__init__.pyi": LARGE, "thing/py.typed": ""},
    "empty extension": {"thing.so": ""},
}


@pytest.mark.parametrize("files", INSTALLED.values(), ids=INSTALLED)
def test_module_is_installed(tmp_path, files):
    assert hollow(tmp_path, files) is False


@pytest.mark.parametrize("files", STUBS.values(), ids=STUBS)
def test_stub_is_hollow(tmp_path, files):
    assert hollow(tmp_path, files) is True


def test_egg_and_source_folder_on_the_path_list_what_they_bring(tmp_path):
    egg = {"thing.egg/thing.py": CODE, "thing.egg/EGG-INFO/top_level.txt": "thing\n"}
    source = {"src/thing.py": CODE, "src/thing.egg-info/top_level.txt": "thing\n"}
    assert hollow(tmp_path, egg, "thing.egg") is False
    assert hollow(tmp_path, source, "src") is False


def test_package_that_is_a_link_is_followed(tmp_path):
    (tmp_path / "thing").symlink_to("clone/thing")
    assert hollow(tmp_path, {"clone/thing/core.py": LARGE}) is False


def test_what_stands_nowhere_is_left_to_pyright(tmp_path):
    assert hollow(tmp_path, {"other.py": CODE}, "", "absent", "question.json") is None


def test_pipes_and_loops_do_not_hold_the_probe_up(tmp_path):
    (tmp_path / "thing").mkdir()
    os.mkfifo(tmp_path / "thing" / "core.py")
    (tmp_path / "thing" / "again").symlink_to("..")
    assert hollow(tmp_path, {}) is True
