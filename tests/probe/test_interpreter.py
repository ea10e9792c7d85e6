"""What is seen of the reported interpreter, whatever its environment does or holds."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from reb_action.corpus.manifests import load
from reb_action.documents import find_refusal
from reb_action.model.observation import Interpreter, PlainAnswers
from reb_action.probe.context import ProbeContext, reveal
from reb_action.probe.interpreter import observe_interpreter
from reb_action.probe.survey import InterpreterFile
from reb_action.probe.version import describe_other_version, parse_hexversion
from reb_action.resources import data_folder
from tests.support.evidence import report

FACTS = data_folder("probes") / "facts.py"


@pytest.mark.parametrize(
    ("number", "version"),
    [
        (0x030B09F0, "3.11.9"),
        (0x030E00C2, "3.14.0rc2"),
        (0x030D00A1, "3.13.0a1"),
        (0x030D00B3, "3.13.0b3"),
        (0x02070FF0, None),
        (0x030B0900, None),
        (99999999, None),
    ],
)
def test_hexversion_is_read(number, version):
    assert parse_hexversion(number) == version


def test_hexversion_of_this_python_is_its_version():
    assert parse_hexversion(sys.hexversion) == "{}.{}.{}".format(*sys.version_info[:3])


def customs(tmp_path, folder):
    """Return which customize modules of a folder the probe saw imported."""
    asked, answer = tmp_path / "asked.json", tmp_path / "answer.json"
    asked.write_text(json.dumps({"nonce": "n", "program": "1", "frameworks": [], "seed": 1}))
    argv = [sys.executable, str(FACTS), str(asked), str(answer)]
    env = {"PYTHONPATH": str(folder)}
    subprocess.run(argv, env=env, check=True, timeout=120, stdin=subprocess.DEVNULL)
    return json.loads(answer.read_text())["customs"]


SIZE = "import sys; sys.path.insert(0, sys.argv[1]); import facts; print(facts.size(sys.argv[2]))"


def test_size_is_of_all_files_below_however_deep(tmp_path):
    deep = "/".join(["d"] * 1200)
    subprocess.run(["mkdir", "-p", tmp_path / deep], check=True)
    (tmp_path / deep / "low").write_text("12345")
    (tmp_path / "top").write_text("123")
    (tmp_path / "link").symlink_to("top")
    (tmp_path / "again").symlink_to(".")
    argv = [sys.executable, "-c", SIZE, FACTS.parent, tmp_path]
    told = subprocess.run(argv, capture_output=True, text=True, timeout=60)
    # What else would remove it is recursive.
    subprocess.run(["rm", "-rf", tmp_path / "d"], check=True)
    assert told.stdout == "8\n", told.stderr


def test_entries_of_the_search_path_that_are_no_text_are_left_out(tmp_path):
    site = tmp_path / "site"
    site.mkdir()
    lines = "import pathlib, sys\nsys.path += [pathlib.Path('/odd'), 7, b'/bytes', None]\n"
    (site / "sitecustomize.py").write_text(lines)
    assert customs(tmp_path, site) == ["sitecustomize"]


LIES = {
    "no number": "platform.python_version = lambda: 'three'",
    "another": "sys.version_info = (3, 9, 99, 'final', 0); sys.hexversion = 0x030963f0",
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_hook_does_not_change_the_version(scratch, lie):
    python = hooked(scratch, f"import platform, sys\n{lie}\n")
    seen = observed(scratch, python)
    right = subprocess.run(
        [scratch.trusted_python, "-ISc", "import platform; print(platform.python_version())"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert (seen.fault, seen.version) == (None, right.stdout.strip())


FORGED = {
    "text for a number": "{**answer, 'prefix_bytes': '9' * 400}",
    "a number below zero": "{**answer, 'prefix_bytes': -1}",
    "no object": "[]",
}


@pytest.mark.parametrize("forged", FORGED.values(), ids=FORGED)
def test_answer_of_another_shape_is_a_fault_of_the_interpreter(scratch, forged):
    lines = f"import json\ndump = json.dump\njson.dump = lambda answer, to: dump({forged}, to)\n"
    python = hooked(scratch, lines)
    seen = observed(scratch, python)
    assert seen.fault == f"{python} ended with exit code 0 and gave no answer"
    assert find_refusal(seen, kind="interpreter") is None


def test_search_path_is_told_whole(scratch):
    python = hooked(
        scratch, "import sys\nsys.path += ['/%d' % n for n in range(250)] + ['/x' * 400]\n"
    )
    seen = observed(scratch, python)
    assert seen.fault is None
    assert seen.search_paths[-251:] == (*(f"/{number}" for number in range(250)), "/x" * 400)


EXCESS = {
    "folders": (
        "'/a' for n in range(2000)",
        r"searches 20\d\d folders for modules, more than 1000",
    ),
    "letters": ("'/' * 5000 for n in '1'", "reports a path of 5000 characters, more than 4096"),
}


@pytest.mark.parametrize("kind", EXCESS)
def test_search_path_that_is_too_much_to_look_through_is_a_fault(scratch, kind):
    paths, fault = EXCESS[kind]
    python = hooked(scratch, f"import sys\nsys.path += [{paths}]\n")
    assert re.fullmatch(f"{python} {fault}", observed(scratch, python).fault)


@pytest.mark.parametrize(
    ("versions", "fault"),
    [
        (("3.11.2", "3.2.0"), None),
        ((), None),
        (("3.12.1", "3.2.0"), "p says that it is Python 3.11.2; its program is of 3.12.1 or 3.2.0"),
    ],
    ids=["right", "not known", "other"],
)
def test_version_is_compared_with_the_program(versions, fault):
    file = InterpreterFile(resolved="p", kind="elf", cpython=True, versions=versions)
    assert describe_other_version("p", "3.11.2", file) == fault


def test_process_that_an_interpreter_leaves_is_named(scratch):
    # Popen returns when the program of the child runs, so that the child has its name.
    leave = "import subprocess\nsubprocess.Popen(['/bin/sleep', '60'])\n"
    seen = observed(scratch, hooked(scratch, leave))
    assert (seen.fault, seen.survivors) == (None, ("sleep",))


def hooked(sandbox, lines):
    """Make an environment that runs lines at each start, and return its interpreter."""
    folder = Path(sandbox.layout.home) / "venv"
    subprocess.run(
        [sandbox.trusted_python, "-m", "venv", "--without-pip", folder], check=True, timeout=120
    )
    (site,) = folder.glob("lib/python3*/site-packages")
    (site / "hook.py").write_text(lines)
    (site / "hook.pth").write_text("import hook\n")
    return folder / "bin" / "python"


def observed(sandbox, python, *, kind="elf", cpython=True):
    """Return what is seen of an interpreter of a sandbox."""
    manifest = load(Path(__file__).parents[1] / "demo" / "manifest.yaml")
    mount = Path(sandbox.spec.mount)
    reveal(mount, manifest)
    context = ProbeContext(sandbox=sandbox, mount=mount, manifest=manifest)
    file = InterpreterFile(resolved=os.path.realpath(python), kind=kind, cpython=cpython)
    return observe_interpreter(context, report(python_path=str(python), torch_version=None), file)


SILENT = PlainAnswers()
STUB = """\
import types
__version__ = "2.4.0+stub"
cuda = types.SimpleNamespace(is_available=lambda: True, device_count=lambda: 8)
"""

# The program, and what it answers: None where it does not run. {python} is a right Python.
PROGRAMS = {
    "prints nothing": ("#!/bin/sh\nexit 0\n", SILENT),
    "prints a version whatever it is asked": (
        "#!/bin/sh\necho 3.9.99\n",
        PlainAnswers(python_version="3.9.99"),
    ),
    "ends with 1": ("#!/bin/sh\nexit 1\n", None),
    "of an interpreter that is not there": ("#!/no/such/program\n", None),
    "ends itself": ("#!/bin/sh\nkill -9 $$\n", None),
    "no program": ("print(1)\n", None),
    "wrapper": ('#!/bin/sh\nexec {python} "$@"\n', PlainAnswers(python_version="{version}")),
    "wrapper that warns": (
        '#!/bin/sh\necho "activating" >&2\n{python} "$@"\n',
        PlainAnswers(python_version="{version}"),
    ),
    "wrapper with a torch": (
        '#!/bin/sh\nPYTHONPATH={stub} exec {python} "$@"\n',
        PlainAnswers(
            python_version="{version}",
            torch_version="2.4.0+stub",
            cuda_available=True,
            gpu_count=8,
        ),
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_that_is_no_cpython_is_asked_as_the_paper_asks(scratch, name):
    text, answers = PROGRAMS[name]
    python = scratch.trusted_python
    asked = [python, "-c", "import platform; print(platform.python_version())"]
    version = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=60).stdout
    stub = Path(scratch.layout.home) / "stub"
    stub.mkdir()
    (stub / "torch.py").write_text(STUB)
    program = Path(scratch.layout.home) / "python"
    program.write_text(text.replace("{python}", python).replace("{stub}", str(stub)))
    program.chmod(0o755)
    kind = "script" if text.startswith("#!") else "other"
    seen = observed(scratch, program, kind=kind, cpython=False)
    if answers is not None and answers.python_version == "{version}":
        answers = replace(answers, python_version=version.strip())
    assert (seen.path_is_good, seen.answers) == (answers is not None, answers)
    assert seen.fault is not None
    assert seen.version is None


def test_binary_that_fails_is_no_good_path(scratch):
    seen = observed(scratch, Path("/bin/false"), cpython=False)
    assert seen == Interpreter(
        path="/bin/false", path_is_good=False, fault="/bin/false is not CPython"
    )


def test_path_that_does_not_exist_is_not_asked(scratch):
    seen = observed(scratch, Path("/no/python"), kind="missing", cpython=False)
    assert (seen.path_is_good, seen.answers) == (False, None)
