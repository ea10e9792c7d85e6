"""The decoy: runs wherever the original would, sets off what fakes proofs, proves nothing."""

import subprocess
import sys

from reb_action.imports import import_statements
from reb_action.probe.decoy import EXIT_CODE, render_decoy

SOURCE = b"""from __future__ import annotations
import json, absent
from . import beside
from beside import *
def later():
    if False:
        import wave
print("proof")
"""


def decoy(folder, source, *argv, beside="print('beside')", prefix=None):
    """Run the decoy of a module of a package; return its exit code, output and token."""
    package = folder / "package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "beside.py").write_text(beside)
    text = render_decoy(
        import_statements(source), path=str(folder / "token"), token="t1", prefix=prefix
    )
    (package / "train.py").write_text(text)
    command = [sys.executable, *argv]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
    return ended, (folder / "token").read_text()


def test_imports_are_statements_without_those_of_the_future():
    assert import_statements(SOURCE) == (
        "import json, absent",
        "from . import beside",
        "from beside import *",
        "import wave",
    )


def test_imports_of_what_is_not_python_are_none():
    assert import_statements(b"print 'old'\n\x00") == ()


def test_decoy_leaves_its_token_and_imports_what_it_can(tmp_path):
    ended, token = decoy(tmp_path, SOURCE, "-m", "package.train")
    assert (ended.returncode, ended.stdout, token) == (EXIT_CODE, "beside\n", "t1")
    assert "No module named 'absent_t1'" in ended.stderr


def test_decoy_as_a_script_imports_what_stands_beside_it(tmp_path):
    ended, token = decoy(tmp_path, SOURCE, "package/train.py")
    assert (ended.returncode, ended.stdout, token) == (EXIT_CODE, "beside\n", "t1")


def test_import_that_ends_the_process_comes_after_the_token(tmp_path):
    leaving = "import os; print('proof', flush=True); os._exit(0)"
    ended, token = decoy(tmp_path, SOURCE, "package/train.py", beside=leaving)
    assert (ended.returncode, ended.stdout, token) == (0, "proof\n", "t1")


def test_import_that_replaces_names_does_not_change_the_end(tmp_path):
    hostile = "def exit(code): pass\nsys = stream = statement = exit"
    ended, _ = decoy(tmp_path, SOURCE, "package/train.py", beside=hostile)
    assert ended.returncode == EXIT_CODE


def test_decoy_leaves_its_token_only_in_the_environment_that_was_named(tmp_path):
    (tmp_path / "link").symlink_to(sys.prefix)
    for number, (prefix, token) in enumerate(
        ((sys.prefix, "t1"), (str(tmp_path / "link"), "t1"), (f"{sys.prefix}/other", ""))
    ):
        (folder := tmp_path / str(number)).mkdir()
        ended, left = decoy(folder, SOURCE, "package/train.py", prefix=prefix)
        assert (ended.returncode, left) == (EXIT_CODE, token)
