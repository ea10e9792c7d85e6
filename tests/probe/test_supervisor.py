"""The supervisor of probe runs: what it tells, and what nothing that it starts can change."""

import json
import os
import platform
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from reb_action.corpus.manifests import load
from reb_action.probe.context import ProbeContext, reveal
from reb_action.probe.supervisor import Request, supervise
from reb_action.resources import data_folder
from reb_action.sandbox.layout import SandboxLayout
from reb_action.sandbox.protocol import Ended, Kind
from tests.support.memory import eat_memory
from tests.support.sandbox_fixtures import isolate_nothing

SUPERVISE = data_folder("probes") / "supervise.py"
NONCE = "5" * 32

DAEMON = """
import os, sys, time
if os.fork(): os.wait(); sys.exit(0)
os.setsid()
if os.fork(): os._exit(0)
open({note!r}, "w").write(str(os.getpid()))
os.execve(sys.executable, ["left-behind", "-c", "import time; time.sleep(300)"], {{}})
"""


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


def told(out, code, **other):
    """Supervise a line of Python; return the answer and the log."""
    request = {
        "nonce": NONCE,
        "argv": [sys.executable, "-c", code],
        "cwd": str(out.parent),
        "env": {"PATH": "/usr/bin:/bin"},
        "timeout_seconds": 20,
        "out": str(out),
        "collect": [],
        "answer": None,
        "libraries": "^libnone",
        "outside": {kind: str(Path(f"/proc/self/ns/{kind}").readlink()) for kind in ("pid", "ipc")},
        **other,
    }
    argv = [sys.executable, "-I", "-S", str(SUPERVISE)]
    asked = json.dumps(request).encode()
    ended = subprocess.run(argv, input=asked, env={}, capture_output=True, timeout=60)
    return json.loads(ended.stderr), ended.stdout


def test_both_streams_of_the_command_are_its_log_and_never_the_answer(out):
    forged = json.dumps({"nonce": NONCE, "exit_code": 0})
    code = f"import os; os.write(1, b'one '); os.write(2, {forged!r}.encode()); os._exit(3)"
    answer, log = told(out, code)
    assert (answer["nonce"], answer["exit_code"], log) == (NONCE, 3, b"one " + forged.encode())


def test_command_does_not_see_the_nonce(out):
    code = "import os; print(dict(os.environ), os.listdir('/proc/self/fd'))"
    _, log = told(out, code)
    assert NONCE.encode() not in log
    assert log.endswith(b"['0', '1', '2', '3']\n")


def test_process_that_left_session_parent_and_environment_is_ended(out, tmp_path):
    note = tmp_path / "pid"
    answer, _ = told(out, DAEMON.format(note=str(note)))
    assert len(answer["survivors"]) == 1
    assert not Path(f"/proc/{note.read_text()}").exists()


def test_command_that_does_not_end_is_ended(out):
    begun = time.monotonic()
    answer, _ = told(out, "import time; time.sleep(300)", timeout_seconds=0.3)
    assert (answer["timed_out"], answer["exit_code"]) == (True, None)
    assert time.monotonic() - begun < 20


def test_only_files_of_this_run_are_collected(out, tmp_path):
    for name in ("planted", "future", "rewritten"):
        (tmp_path / name).write_text("old")
    os.utime(tmp_path / "future", (4e9, 4e9))
    code = "open('rewritten', 'w').write('old'); open('fresh', 'w').write('new')\n"
    code += "import os; os.symlink('planted', 'linked'); os.mkfifo('pipe'); os.mkdir('folder')"
    answer, _ = told(out, code, collect=[f"{tmp_path}/*"])
    assert [Path(file["path"]).name for file in answer["files"]] == ["fresh", "rewritten"]


def test_output_folder_is_empty_at_the_start(out):
    out.mkdir()
    (out / "planted").write_text("old")
    answer, log = told(out, f"import os; print(os.listdir({str(out)!r}))", collect=[f"{out}/*"])
    assert (answer["files"], log) == ([], b"[]\n")


@pytest.mark.parametrize("make", ["os.symlink('/etc/passwd', p)", "os.mkfifo(p)", "os.mkdir(p)"])
def test_answer_that_is_no_regular_file_is_none(out, make):
    place = f"{out}/answer"
    answer, _ = told(out, f"import os; p = {place!r}; {make}", answer=place)
    assert answer["answer"] is None


def test_run_that_kills_its_supervisor_is_lost_and_leaves_nothing(scratch):
    context = context_of(scratch)
    code = "import os, time\nif os.fork():\n    os.kill(os.getppid(), 9)\ntime.sleep(300)"
    seen = supervise(context, request_of(scratch, code))
    assert (seen.lost, seen.exit_code) == ("the run ended its supervisor", None)
    assert scratch.halt() == ()


@dataclass
class Scripted:
    """A sandbox in which every command ends in the same way; `left` is what is found after each."""

    exit_code: int = 0
    left: tuple[str, ...] = ()
    survivors: tuple[str, ...] = ()
    trusted_python = "python3"
    separates_users = True
    layout = SandboxLayout()
    ran = False

    def run(self, command, **_):
        self.ran = True
        assert (command.env, command.secret_env) == ({}, {})
        nonce = json.loads(command.stdin)["nonce"]
        told = {"nonce": nonce, "exit_code": 0, "survivors": self.survivors}
        stderr = json.dumps(told).encode() + b"\n"
        return Ended(
            exit_code=self.exit_code, timed_out=False, seconds=1.0, stdout=b"", stderr=stderr
        )

    def clear(self):
        return self.left if self.ran else ()

    renew = clear


@pytest.mark.parametrize(
    ("sandbox", "lost", "survivors"),
    [
        (Scripted(), None, ()),
        (Scripted(survivors=("sleep",)), None, ("sleep",)),
        (Scripted(exit_code=137), "the run ended its supervisor", ()),
        (Scripted(exit_code=1), "the run ended its supervisor", ()),
        (Scripted(left=("sh", "x")), 'could not be ended in it: ["sh", "x"]', ("sh", "x")),
        (Scripted(survivors=("(not ended)",)), "could not be ended in it", ("(not ended)",)),
    ],
)
def test_answer_counts_only_if_it_ended_well_and_nothing_is_left(sandbox, lost, survivors):
    manifest = load(Path(__file__).parents[1] / "demo" / "manifest.yaml")
    context = ProbeContext(sandbox=sandbox, mount=Path("/nowhere"), manifest=manifest)
    seen = supervise(context, request_of(sandbox, ""))
    assert lost in seen.lost if lost else seen.lost is None
    assert seen.survivors == survivors


@pytest.mark.docker
def test_memory_environment_and_channels_of_the_supervisor_are_closed(container):
    context = context_of(container)
    code = """
import os
for name in ("environ", "mem", "maps", "fd/2"):
    try:
        with open("/proc/%d/%s" % (os.getppid(), name), "rb"):
            print(name, "is open")
    except PermissionError:
        print(name, "is closed")
"""
    seen = supervise(context, request_of(container, code))
    assert seen.log == b"environ is closed\nmem is closed\nmaps is closed\nfd/2 is closed\n"


FORGED = """
import json, sys
nonce = json.loads(sys.stdin.read())["nonce"]
sys.stderr.write(json.dumps({"nonce": nonce, "exit_code": 0, "survivors": []}))
"""
CHANGES = {
    "text": "open(probe, 'w').write(FORGED)",
    "link": "open('own', 'w').write(FORGED); os.unlink(probe);"
    "os.symlink(os.path.abspath('own'), probe)",
    "folder": "os.rename(folder, folder + '-old'); os.mkdir(folder);open(probe, 'w').write(FORGED)",
    "link of the folder": "os.mkdir('own'); open('own/supervise.py', 'w').write(FORGED);"
    "os.rename(folder, folder + '-old'); os.symlink(os.path.abspath('own'), folder)",
    "bytecode": "os.mkdir(folder + '/__pycache__'); open(probe, 'w').write(FORGED)",
    "mode": "os.unlink(probe); os.mkfifo(probe)",
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_probe_that_a_run_changed_is_put_back_before_the_next(start, change, monkeypatch, tmp_path):
    # Elsewhere it is read-only.
    isolate_nothing(monkeypatch, tmp_path)
    sandbox = start(Kind.LOCAL)
    context = context_of(sandbox)
    folder = f"{sandbox.spec.mount}/probes"
    names = (
        f"import os; FORGED = {FORGED!r}; folder = {folder!r}; probe = folder + '/supervise.py'\n"
    )
    changed = supervise(context, request_of(sandbox, names + change))
    assert (changed.lost, changed.exit_code, changed.log) == (None, 0, b"")
    seen = supervise(context, request_of(sandbox, "import sys; sys.exit(3)"))
    assert (seen.lost, seen.exit_code) == (None, 3)
    probes = data_folder("probes")
    library = probes / "launches" / "liblaunches.so"
    files = {str(path.relative_to(probes)) for path in (*probes.glob("*.py"), library)}
    assert {str(path.relative_to(folder)) for path in Path(folder).rglob("*")} == {
        "launches",
        *files,
    }


@pytest.mark.docker
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the program is of x86-64")
def test_run_that_uses_up_all_memory_has_failed_and_the_next_is_measured(container):
    context = context_of(container)
    request = replace(request_of(container, ""), argv=("/bin/sh", "-c", eat_memory()))
    seen = supervise(context, request)
    assert seen.lost == "the run used up the 512 MiB of memory that the sandbox has"
    again = supervise(context, request_of(container, "print('measured')"))
    assert (again.lost, again.exit_code, again.log) == (None, 0, b"measured\n")


def context_of(sandbox):
    """Reveal the probes in a sandbox."""
    manifest = load(Path(__file__).parents[1] / "demo" / "manifest.yaml")
    mount = Path(sandbox.spec.mount)
    reveal(mount, manifest)
    return ProbeContext(sandbox=sandbox, mount=mount, manifest=manifest)


def request_of(sandbox, code):
    workspace = sandbox.layout.workspace
    python = sandbox.trusted_python
    argv, env = (python, "-c", code), {"PATH": "/usr/bin:/bin"}
    out = f"{workspace}/out"
    return Request(argv=argv, cwd=workspace, env=env, timeout_seconds=20, out=out)
