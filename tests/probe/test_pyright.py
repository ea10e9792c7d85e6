"""What an environment does to those who look at its imports is its failure, and not ours."""

import json
import sys
from pathlib import Path

import pytest

from reb_action.corpus.manifests import load
from reb_action.errors import SandboxError, ToolchainError
from reb_action.imports import Unresolved
from reb_action.model.observation import Interpreter
from reb_action.probe import pyright, toolchain
from reb_action.probe import stubs as stubs_module
from reb_action.probe.context import ProbeContext, reveal
from reb_action.probe.imports import _beside
from reb_action.probe.pyright import Tree, resolve
from reb_action.probe.stubs import InstalledModules, Module, Wanted, inspect_modules
from reb_action.source.pristine import Source, TrackedFile

SEARCH = toolchain.SearchPaths(version=(3, 11), prefix="/venv", paths=("/venv/site",))
FOUND = json.dumps({"generalDiagnostics": [], "summary": {"filesAnalyzed": 1}})
FELL = "An internal error occurred while type checking file"
BROKEN = json.dumps({"generalDiagnostics": [{"message": FELL}], "summary": {"filesAnalyzed": 1}})
DEATHS = {
    "memory": (
        "sys.exit('FATAL ERROR: JavaScript heap out of memory\\n  1: 0xb')",
        "it needs more than 4096 MiB of memory",
    ),
    "signal": ("os.kill(os.getpid(), 9)", "it was killed, as when memory runs out"),
    "fault": ("print('Error: odd', file=sys.stderr); sys.exit(2)", "exit code 2 Error: odd"),
    "words": ("print('no number')", "its answer is not JSON: "),
    "inside": (f"print({BROKEN!r}); sys.exit(1)", "it failed on a file of the repository"),
    "time": ("time.sleep(60)", "it had not ended after "),
}


@pytest.fixture
def context(scratch):
    manifest = load(Path(__file__).parents[1] / "demo" / "manifest.yaml")
    mount = Path(scratch.spec.mount)
    reveal(mount, manifest)
    return ProbeContext(sandbox=scratch, mount=mount, manifest=manifest)


def command_of(code):
    """Return what runs other code in pyright's place."""
    return lambda *, tools, folder: (sys.executable, "-c", code, folder, tools)


def replace_pyright(monkeypatch, death, *, when):
    """Put a program in pyright's place, which dies when the environment is what `when` says."""
    code = (
        "import os, sys, time\n"
        "there = '/venv/site' in open(sys.argv[1] + '/interpreter').read()\n"
        f"if {when}:\n    {death}\n"
        f"print({FOUND!r})"
    )
    monkeypatch.setattr(toolchain, "build_command", command_of(code))
    monkeypatch.setattr(pyright, "_TIMEOUT_SECONDS", 2)


TREE = Tree(files={"a.py": b"import b"}, search=SEARCH)


@pytest.mark.parametrize(("death", "why"), DEATHS.values(), ids=DEATHS)
def test_pyright_that_dies_of_an_environment_is_its_failure(context, monkeypatch, death, why):
    replace_pyright(monkeypatch, death, when="there")
    seen = resolve(context, TREE)
    assert isinstance(seen, str)
    assert seen.startswith(f"pyright cannot analyse this environment: {why}")


def test_pyright_that_dies_without_an_environment_too_is_ours(context, monkeypatch):
    replace_pyright(monkeypatch, "sys.exit(3)", when="True")
    with pytest.raises(
        ToolchainError, match=r"^pyright does not work in the sandbox: exit code 3; run it again$"
    ):
        resolve(context, TREE)


def test_pyright_that_works_is_asked_once(context, monkeypatch):
    replace_pyright(monkeypatch, "sys.exit(2)", when="not there")
    nothing = frozenset[str]()
    assert resolve(context, TREE) == Unresolved(missing=nothing, stub_only=nothing, files=1)


INTERPRETER = Interpreter(path="/venv/bin/python", fault=None, path_is_good=True)
THING = Interpreter(
    path="/venv/bin/python", fault=None, path_is_good=True, search_paths=("/venv/site",)
)


def probe(context, monkeypatch, code):
    """Put other code in the probe's place; `there` says whether it is given an environment.

    Before each command the harness puts the right probes back, which has tests of its own.
    """
    monkeypatch.setattr("reb_action.probe.context.reveal", lambda *_: None)
    head = (
        "import json, os, sys, time; there = json.load(open(sys.argv[1]))['search_paths'] != []\n"
        "nothing = json.dumps({'modules': [], 'built': []})\n"
    )
    (context.mount / "probes" / "stubs.py").write_text(head + code)
    monkeypatch.setattr(stubs_module, "_TIMEOUT_SECONDS", 2)


@pytest.mark.parametrize(
    ("death", "why"),
    [
        ("raise MemoryError('full')", "MemoryError: full"),
        ("os.kill(os.getpid(), 9)", "exit code 137"),
        ("time.sleep(60)", "no end within 2 s"),
        ("nothing = '{}['", "exit code 0"),
    ],
)
def test_probe_that_dies_of_an_environment_is_its_failure(context, monkeypatch, death, why):
    probe(context, monkeypatch, f"if there: {death}\nprint(nothing)")
    seen = inspect_modules(context, THING, Wanted(names=("thing",)))
    assert seen == InstalledModules(fault=f"could not list what is installed: {why}")


def test_probe_that_dies_without_an_environment_too_is_ours(context, monkeypatch):
    probe(context, monkeypatch, "sys.exit('no such file')")
    with pytest.raises(SandboxError, match=r"^could not list what is installed: no such file; run"):
        inspect_modules(context, INTERPRETER, Wanted(names=("thing",)))


def test_what_the_probe_sees_is_read(context, tmp_path):
    (tmp_path / "thing.py").write_text("")
    (tmp_path / "other.py").write_text("work()\n" * 100)
    seen = Interpreter(path="", fault=None, path_is_good=True, search_paths=(str(tmp_path),))
    found = inspect_modules(
        context, seen, Wanted(names=("thing", "other", "gone"), native=("/gone/thing.so",))
    )
    thing = Module(name="thing", listed=False, code_bytes=0)
    other = Module(name="other", listed=False, code_bytes=600)
    assert found == InstalledModules(modules=(other, thing))
    assert found.hollow == {"thing"}


def test_only_what_can_stand_beside_the_tracked_files_is_laid_out(tmp_path):
    files = (TrackedFile(path="a/x.py", mode="100644", blob_sha1="0" * 40, size_bytes=1),)
    source = Source(folder=tmp_path, commit="0" * 40, committed_at=0, files=files, submodules=())
    native = ("a/b.so", "a/x.py/c.so", f"{'d' * 300}.so", "e\ud800.so", "f\n.so", "é/g.so")
    assert _beside(source, native) == ("a/b.so", "é/g.so")
