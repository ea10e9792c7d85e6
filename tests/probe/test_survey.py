"""The look at the checkout: what it finds, moves away and gives back, whatever an agent left."""

import _asyncio
import hashlib
import json
import os
import py_compile
import shutil
import stat
import subprocess
import sys
import time
import uuid
from dataclasses import replace
from pathlib import Path

import pytest

from reb_action.corpus.manifests import load
from reb_action.demo import commit_repository
from reb_action.errors import SandboxError
from reb_action.judge.judge import judge
from reb_action.judge.levels import spec_of
from reb_action.model.agent import Change
from reb_action.model.manifest import Level, Outcome
from reb_action.probe.context import ProbeContext, reveal
from reb_action.probe.run import observe_run
from reb_action.probe.supervisor import Request, supervise
from reb_action.probe.survey import Restored, Survey, restore, survey
from reb_action.resources import data_folder
from reb_action.sandbox import select
from reb_action.sandbox.protocol import Command, Ended, Kind
from reb_action.session import evidence, report
from reb_action.session.layout import SessionLayout
from reb_action.session.state import AgentChoice
from reb_action.source.pristine import Source, TrackedFile
from reb_action.trial import freeze as trial_freeze
from reb_action.trial import options as trial_options
from reb_action.trial import start, stop
from reb_action.trial.freeze import freeze
from tests.support.sandbox_fixtures import archive

PROBE = data_folder("probes") / "survey.py"
HONEST = json.dumps(
    {
        "python_path": "/opt/env/bin/python",
        "python_version": None,
        "torch_version": None,
        "cuda_available": None,
        "gpu_count": None,
        "ddp_expected_ok": None,
        "env_tool": "venv",
        "env_name": None,
        "notes": None,
    }
).encode()
DEMO = Path(__file__).parents[1] / "demo" / "manifest.yaml"
UNCHECKED = py_compile.PycInvalidationMode.UNCHECKED_HASH
FILES = {
    "README.md": b"# Thing\n",
    "pkg/__init__.py": b"",
    "pkg/data.py": b"VALUE = 1\n",
    "pkg/sub.py": b"",
    "pkg/sub/notes.txt": b"tracked\n",
    "plain/code.py": b"VALUE = 2\n",
    "run.sh": b"#!/bin/sh\n",
}


def blob(content):
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


@pytest.fixture
def checkout(tmp_path):
    root = tmp_path / "workspace" / "repo"
    for path, content in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)
        (root / path).chmod(0o755 if path == "run.sh" else 0o644)
    return root


def look(root, *, tracked=FILES, links=(), interpreter=None, removed=None):
    """Survey a folder; return the answer, with tracked files by their names."""
    entries = [
        [path, path == "run.sh", path in links, len(content), blob(content)]
        for path, content in tracked.items()
    ]
    request = {
        "repository": str(root),
        "folders": [],
        # As in a trial, each look has a folder of its own.
        "removed": str(removed or root.parent / f"removed-{uuid.uuid4()}"),
        "interpreter": interpreter,
        "start": None,
        "tracked": entries,
    }
    asked = root.parent / "question.json"
    asked.write_text(json.dumps(request))
    argv = [sys.executable, "-I", "-S", str(PROBE), str(asked)]
    ended = subprocess.run(argv, capture_output=True, check=True, timeout=60)
    answer = json.loads(ended.stdout.decode())
    names = list(tracked)
    return {**answer, "touched": {names[index]: change for index, change in answer["touched"]}}


def imported(root, module):
    """Return what Python gets as VALUE of a module of the checkout."""
    code = f"import {module} as it; print(it.VALUE)"
    ended = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, timeout=60)
    return ended.stdout.decode().strip()


def compile_other(target):
    """Put bytecode of another source where a cache has that of pkg/data.py."""
    other = target.parent / "other.py"
    target.parent.mkdir(parents=True, exist_ok=True)
    other.write_text("VALUE = 'edited'\n")
    py_compile.compile(str(other), cfile=str(target), invalidation_mode=UNCHECKED)


def package(folder):
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("VALUE = 'edited'\n")
    return folder


CACHED = f"data.{sys.implementation.cache_tag}.pyc"


def link_cache(root, aside):
    compile_other(aside / "cache" / CACHED)
    (root / "pkg" / "__pycache__").symlink_to(aside / "cache")


def closed_cache(root, _aside):
    compile_other(root / "pkg" / "__pycache__" / CACHED)
    (root / "pkg" / "__pycache__").chmod(0o555)
    (root / "pkg").chmod(0o555)


def package_beside(root, _aside):
    package(root / "pkg" / "data")


def link_beside(root, aside):
    (root / "pkg" / "data").symlink_to(package(aside / "data"))


def folder_behind_link(root, aside):
    shutil.move(root / "pkg", aside / "pkg")
    package(aside / "pkg" / "data")
    (root / "pkg").symlink_to(aside / "pkg")


def checkout_behind_link(root, aside):
    shutil.move(root, aside / "repo")
    package(aside / "repo" / "pkg" / "data")
    root.symlink_to(aside / "repo")


@pytest.mark.parametrize(
    ("spoil", "shadows"),
    [
        (link_cache, ["pkg/__pycache__"]),
        (closed_cache, ["pkg/__pycache__"]),
        (package_beside, ["pkg/data"]),
        (link_beside, ["pkg/data"]),
        (folder_behind_link, ["pkg"]),
        (checkout_behind_link, ["."]),
    ],
)
def test_what_runs_in_the_place_of_a_tracked_module_goes_and_is_told(
    checkout, tmp_path, spoil, shadows
):
    aside = tmp_path / "aside"
    aside.mkdir()
    spoil(checkout, aside)
    assert imported(checkout, "pkg.data") == "edited"
    seen = look(checkout)
    assert (seen["shadows"], seen["stuck"]) == (shadows, [])
    for path in seen["touched"]:
        (checkout / path).parent.mkdir(parents=True, exist_ok=True)
        (checkout / path).write_bytes(FILES[path])
    (checkout / "run.sh").chmod(0o755)
    assert imported(checkout, "pkg.data") == "1"
    again = look(checkout)
    assert again == {**seen, "shadows": [], "touched": {}, "stamps": again["stamps"]}


@pytest.mark.parametrize("name", ["plain.py", "plain/__init__.py"])
def test_what_takes_over_a_folder_that_is_no_package_goes(checkout, name):
    (checkout / name).write_text("__path__ = ['elsewhere']\n")
    assert look(checkout)["shadows"] == [name]
    assert imported(checkout, "plain.code") == "2"


def test_package_over_a_module_goes_and_what_is_tracked_in_its_folder_stays(checkout):
    (checkout / "pkg/sub/__init__.py").write_text("VALUE = 'edited'\n")
    seen = look(checkout)
    assert (seen["shadows"], seen["touched"]) == (["pkg/sub/__init__.py"], {})
    assert (checkout / "pkg/sub/notes.txt").read_bytes() == b"tracked\n"


def test_bytecode_in_a_tracked_cache_goes_and_what_is_tracked_there_stays(checkout):
    tracked = {**FILES, "pkg/__pycache__/old.pyc": b"old"}
    compile_other(checkout / "pkg/__pycache__" / CACHED)
    (checkout / "pkg/__pycache__/old.pyc").write_bytes(b"old")
    seen = look(checkout, tracked=tracked)
    assert (seen["shadows"], seen["touched"]) == (
        [f"pkg/__pycache__/{CACHED}", "pkg/__pycache__/other.py"],
        {},
    )
    assert os.listdir(checkout / "pkg/__pycache__") == ["old.pyc"]  # noqa: PTH208


def test_stamp_of_a_file_is_its_last_change_or_0(checkout):
    (checkout / "README.md").unlink()
    stamps = look(checkout)["stamps"]
    assert stamps == [0, *((checkout / path).stat().st_ctime_ns for path in list(FILES)[1:])]


def test_flood_of_a_tracked_cache_goes_as_a_whole(checkout):
    tracked = {**FILES, "pkg/__pycache__/old.pyc": b"old"}
    (checkout / "pkg/__pycache__").mkdir()
    for number in range(5_000):
        (checkout / f"pkg/__pycache__/{number}").touch()
    (checkout / "pkg/__pycache__/old.pyc").write_bytes(b"old")
    assert look(checkout, tracked=tracked)["touched"] == {}
    assert os.listdir(checkout / "pkg/__pycache__") == ["old.pyc"]  # noqa: PTH208


@pytest.mark.parametrize("name", ["pkg/data/big.bin", "plain/__init__.py", "lib/__pycache__/a.pyc"])
def test_what_shadows_nothing_stays(checkout, name):
    (checkout / name).parent.mkdir(parents=True, exist_ok=True)
    (checkout / name).touch()
    assert look(checkout)["shadows"] == []
    assert (checkout / name).exists()


def test_caches_of_python_go_untold(checkout):
    py_compile.compile(str(checkout / "pkg/data.py"))
    assert look(checkout)["shadows"] == []
    assert not (checkout / "pkg/__pycache__").exists()


def test_modes_are_those_of_the_commit_again(checkout):
    (checkout / "outputs").mkdir()
    for path in sorted(checkout.rglob("*"), reverse=True):
        path.chmod(stat.S_IMODE(path.stat().st_mode) & ~0o222)
    checkout.chmod(0o555)
    assert look(checkout)["touched"] == {}
    modes = {path: stat.S_IMODE((checkout / path).stat().st_mode) for path in FILES}
    assert modes == {path: 0o755 if path == "run.sh" else 0o644 for path in FILES}
    for folder in (".", "pkg", "plain", "pkg/sub", "outputs"):
        assert stat.S_IMODE((checkout / folder).stat().st_mode) == 0o755


def test_changes_are_told(checkout):
    (checkout / "README.md").unlink()
    (checkout / "README.md").mkdir()
    (checkout / "pkg/sub.py").write_bytes(b"x")
    (checkout / "pkg/data.py").write_bytes(b"VALUE = 3\n")
    (checkout / "plain/code.py").unlink()
    (checkout / "run.sh").chmod(0o644)
    assert look(checkout)["touched"] == {
        "README.md": "modified",
        "pkg/data.py": "modified",
        "pkg/sub.py": "modified",
        "plain/code.py": "deleted",
        "run.sh": "modified",
    }


def test_tracked_link_is_held_against_its_target(checkout):
    tracked, link = {"link": b"README.md"}, checkout / "link"
    link.symlink_to("README.md")
    assert look(checkout, tracked=tracked, links=("link",))["touched"] == {}
    for target in ("README.sh", "READMES.md"):
        link.unlink()
        link.symlink_to(target)
        assert look(checkout, tracked=tracked, links=("link",))["touched"] == {"link": "modified"}


def test_look_takes_no_longer_for_files_made_huge(checkout):
    for name in ("README.md", "x.so", "pkg/y.so"):
        with (checkout / name).open("ab") as stream:
            stream.truncate(1 << 40)
    begun = time.monotonic()
    assert look(checkout)["touched"] == {"README.md": "modified"}
    assert time.monotonic() - begun < 5


def test_names_of_any_bytes_are_told(checkout):
    native = Path(_asyncio.__file__)
    for name in ("x\udcff.so", f"{'x' * 200}/y.so"):
        (checkout / name).parent.mkdir(exist_ok=True)
        shutil.copyfile(native, checkout / name)
    odd = checkout / "python\udcfe"
    shutil.copyfile(native, odd)
    (checkout / "python").symlink_to(odd)
    seen = look(checkout, interpreter=str(checkout / "python"))
    assert seen["native"] == ["x\\xff.so", f"{'x' * 200}/y.so"]
    assert seen["interpreter"]["resolved"] == f"{checkout}/python\\xfe"


ELF = b"\x7fELF"


def test_every_native_file_is_told_whatever_it_holds(checkout):
    write_native(checkout / "pkg/data.abi3.so", checkout / "env/lib/x.so", checkout / "pkg/y.so")
    (checkout / "pkg/linked.so").symlink_to(checkout / "pkg/y.so")
    (checkout / "pkg/text.so").write_text("PyInit_text")
    # Neither mark makes an environment of a folder of the commit.
    (checkout / "pkg/pyvenv.cfg").touch()
    (checkout / "env/pyvenv.cfg").touch()
    assert look(checkout)["native"] == ["pkg/data.abi3.so", "pkg/linked.so", "pkg/y.so"]


def test_native_files_that_are_left_out_are_counted(checkout):
    write_native(*(checkout / "out" / f"{number:04}.so" for number in range(2003)))
    told = look(checkout)["native"]
    assert told == [*(f"out/{number:04}.so" for number in range(2000)), "and 3 more"]


def write_native(*paths):
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(ELF)


@pytest.mark.parametrize("name", ["__init__.abi3.so", "__init__.cpython-39-x.so", "__init__.pyc"])
def test_what_makes_a_package_is_moved_away_among_very_many_files(checkout, name):
    (checkout / "pkg/data").mkdir()
    for number in range(20001):
        (checkout / f"pkg/data/{number}").touch()
    (checkout / "pkg/data" / name).write_bytes(ELF)
    assert look(checkout)["shadows"] == ["pkg/data"]


def test_what_cannot_be_moved_is_told(checkout):
    package(checkout / "pkg" / "data")
    removed = checkout.parent / "removed"
    removed.write_text("in the way")
    seen = look(checkout, removed=removed)
    assert (seen["shadows"], seen["stuck"]) == ([], ["pkg/data"])


class Answering:
    """A sandbox in which every look ends as it is told, and nothing else happens."""

    trusted_python = "/usr/bin/python3"

    def __init__(self, real, ended):
        self.layout, self.spec, self.ended, self.put_paths = real.layout, real.spec, ended, []
        self.halt, self.resume, self.read = real.halt, real.resume, real.read
        self.clear, self.separates_users = real.clear, real.separates_users

    def run(self, command):
        assert command.argv[3].endswith("/survey.py")
        return self.ended

    def protect(self, folder, _archive, *, writable):
        assert writable == frozenset()
        self.put_paths.append(folder)


@pytest.fixture
def context(scratch, tmp_path):
    """A context of a real sandbox, whose checkout is empty."""
    (tmp_path / "mount").mkdir(exist_ok=True)
    manifest = load(DEMO)
    reveal(tmp_path / "mount", manifest)
    return ProbeContext(sandbox=scratch, mount=tmp_path / "mount", manifest=manifest)


def test_all_looks_together_end_in_their_time(context):
    late = replace(context, ends_at=time.monotonic() - 5)
    ended = late.run(Command(argv=("/bin/sleep", "60"), cwd="/", timeout_seconds=60))
    assert ended.timed_out
    assert ended.seconds < 30
    request = Request(
        argv=("/bin/sleep", "60"), cwd="/", env={}, timeout_seconds=60, out=f"{late.layout.runs}/x"
    )
    assert supervise(late, request).timed_out
    assert context.limit_seconds(60) == 60


@pytest.fixture
def source(checkout):
    files = tuple(
        TrackedFile(
            path=path,
            mode="100755" if path == "run.sh" else "100644",
            blob_sha1=blob(content),
            size_bytes=len(content),
        )
        for path, content in FILES.items()
    )
    return Source(folder=checkout, commit="1" * 40, committed_at=2**30, files=files, submodules=())


def ended(code, stdout=b"", stderr=b"", *, timed_out=False):
    return Ended(exit_code=code, timed_out=timed_out, seconds=600.0, stdout=stdout, stderr=stderr)


@pytest.mark.parametrize(
    ("end", "why"),
    [
        (ended(None, timed_out=True), "no answer within 600 s"),
        (ended(137), "exit code 137"),
        (ended(1, stderr=b"Traceback\nMemoryError\n"), 'exit code 1 "MemoryError"'),
        (ended(0, stdout=b"{cut"), "exit code 0"),
    ],
)
def test_look_that_dies_is_the_agents_affair(context, source, end, why):
    seen = survey(replace(context, sandbox=Answering(context.sandbox, end)), source)
    fault = f"the files that the agent left cannot be looked at: {why}"
    assert seen.fault == fault
    assert restore(context, source, seen).fault == fault


@pytest.mark.parametrize("code", [2, 125, 126, 127])
def test_look_that_cannot_begin_is_a_fault_of_the_runner(context, source, code):
    context = replace(
        context, sandbox=Answering(context.sandbox, ended(code, stderr=b"env: gone\n"))
    )
    with pytest.raises(SandboxError, match="cannot be surveyed: exit code"):
        survey(context, source)


def test_restore_gives_back_every_file_and_looks_again(context, source):
    restored = restore(context, source, survey(context, source))
    assert restored.fault is None
    assert [(one.path, one.change) for one in restored.touched] == [
        (path, Change.DELETED) for path in FILES
    ]
    assert survey(context, source).touched == ()


def test_restore_that_does_not_hold_is_told(context, source):
    end = ended(0, stdout=json.dumps({"touched": [[1, "modified"]]}).encode())
    sandbox = Answering(context.sandbox, end)
    lame = replace(context, sandbox=sandbox)
    restored = restore(lame, source, survey(lame, source))
    why = 'the checkout could not be restored to its commit: "pkg/__init__.py" stays as it is'
    assert (restored.fault, sandbox.put_paths) == (why, [context.layout.repository])


def test_run_is_failed_where_the_checkout_cannot_be_looked_at(context, source):
    lame = replace(context, sandbox=Answering(context.sandbox, ended(None, timed_out=True)))
    claimed = report.parse(HONEST)
    seen, log = observe_run(lame, source, claimed, Level.C1)
    result = spec_of(Level.C1).judge(context.manifest, seen)
    why = "the files that the agent left cannot be looked at: no answer within 600 s"
    assert (result.outcome, result.paper, result.reason) == (Outcome.FAILED, Outcome.FAILED, why)
    assert log == b""


def test_levels_are_blocked_where_the_checkout_cannot_be_looked_at(tmp_path):
    wanted = commit_repository(DEMO.parent, tmp_path / "mirror")
    choice = AgentChoice(name="nop", argument=None, total_seconds=60, setup_seconds=60)
    options = trial_options.Options(
        manifest=wanted,
        agent=choice,
        folder=tmp_path / "trial",
        kind=Kind.LOCAL,
        mirror=tmp_path / "mirror",
    )
    begun = start.start(options, owner=os.getpid(), tell=lambda _: None)
    layout, sandbox = SessionLayout(folder=options.folder), select.attach(begun.spec, begun.handle)
    sandbox.put(sandbox.layout.workspace, archive({"report.json": HONEST}))
    freeze(layout, begun, Answering(sandbox, ended(137)), tell=lambda _: None)
    stop.stop(layout, tell=lambda _: None)
    results = {one.level: (one.outcome, one.reason) for one in judge(evidence.read(layout)).results}
    why = "the files that the agent left cannot be looked at: exit code 137"
    assert results[Level.C0] == results[Level.C1] == (Outcome.BLOCKED, why)
    assert results[Level.C5][0] is Outcome.FAILED


def test_interpreter_that_was_not_looked_at_is_a_fault(context):
    claimed = report.parse(HONEST)
    seen = trial_freeze._interpreter(context, claimed, Survey(), Restored())
    assert (seen.path, seen.fault) == (
        "/opt/env/bin/python",
        "/opt/env/bin/python was not examined",
    )
