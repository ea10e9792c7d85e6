"""Processes of random shape: none of them lives to see the next run, in any sandbox."""

import os
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from reb_action.errors import SandboxError, UnendedError, UsageError
from reb_action.probe.supervisor import supervise
from reb_action.sandbox import select
from reb_action.sandbox.local.isolation import Isolation, find_isolation
from reb_action.sandbox.protocol import Command, Kind, Sandbox
from tests.probe.test_supervisor import context_of, request_of
from tests.support.sandbox_fixtures import KINDS, Start, isolate_nothing, shell, spec_for

SEED = int(os.environ.get("REB_SEED", "14"))
ISOLATED = pytest.mark.skipif(
    find_isolation() is Isolation.NONE, reason="this machine allows no PID namespaces"
)
ROUNDS = int(os.environ.get("REB_ROUNDS", "2"))
MOVES = ("fork", "session", "group", "deaf", "nameless")
ENDS = ("asleep", "stopped", "leaderless", "traced", "vforked", "forking", "exec", "group of six")

SHAPE = """
import ctypes, fcntl, os, platform, signal, sys, threading, time

SECONDS = 90
libc = ctypes.CDLL(None)
arm = platform.machine() == "aarch64"
alive = os.open("alive", os.O_RDWR | os.O_CREAT)
fcntl.flock(alive, fcntl.LOCK_SH)
os.set_inheritable(alive, True)

def asleep():
    time.sleep(SECONDS)

def stopped():
    os.kill(os.getpid(), signal.SIGSTOP)
    asleep()

def leaderless():
    for _ in range(2):
        threading.Thread(target=asleep).start()
    libc.syscall(93 if arm else 60, 0)

def traced():
    child = os.fork()
    if not child:
        libc.ptrace(0, 0, 0, 0)
        stopped()
    os.waitpid(child, os.WUNTRACED)
    asleep()

def vforked():
    os.fork() if arm else libc.syscall(58)
    asleep()

def forking():
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        if os.fork():
            os._exit(0)
        time.sleep(0.001)

def execed():
    os.execve("/bin/sleep", ["sleep", str(SECONDS)], {})

def six():
    for _ in range(5):
        if not os.fork():
            break
    asleep()

ENDS = {
    "asleep": asleep, "stopped": stopped, "leaderless": leaderless, "traced": traced,
    "vforked": vforked, "forking": forking, "exec": execed, "group of six": six,
}

def fork():
    if os.fork():
        os._exit(0)

def deaf():
    for number in range(1, signal.NSIG):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass

MOVES = {
    "fork": fork, "deaf": deaf, "group": lambda: os.setpgid(0, 0), "session": os.setsid,
    "nameless": lambda: libc.prctl(15, b"(a) b) Z 1", 0, 0, 0),
}

def take(shape):
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    *moves, end = shape.split("+")
    for move in moves:
        try:
            MOVES[move]()
        except OSError:
            continue
    ENDS[end]()
    os._exit(0)

for shape in sys.argv[1:]:
    if not os.fork():
        take(shape)
time.sleep(0.5)
"""

LOOK = """
import fcntl, os
alive = os.open("alive", os.O_RDWR | os.O_CREAT)
try:
    fcntl.flock(alive, fcntl.LOCK_EX | fcntl.LOCK_NB)
    print("nobody")
except BlockingIOError:
    print("somebody")
"""


def shapes(random_source: random.Random) -> list[str]:
    """Return six shapes: some moves, then how it goes on."""
    return [
        "+".join((*random_source.choices(MOVES, k=random_source.randrange(4)), end))
        for end in random_source.sample(ENDS, 6)
    ]


def python(sandbox: Sandbox, code: str, *arguments: str) -> str:
    argv = (sandbox.trusted_python, "-I", "-S", "-c", code, *arguments)
    cwd = sandbox.layout.workspace
    return sandbox.run(Command(argv=argv, cwd=cwd, timeout_seconds=60)).stdout.decode().strip()


@pytest.fixture(params=[*KINDS, "nothing isolates"])
def place(
    request: pytest.FixtureRequest, start: Start, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Sandbox:
    """Return a sandbox of each kind; a local one also as where the machine isolates nothing."""
    if request.param == "nothing isolates":
        isolate_nothing(monkeypatch, tmp_path)
        return start(Kind.LOCAL)
    return start(request.param)


def test_nothing_that_a_command_leaves_lives_in_the_next(place: Sandbox):
    source, counts = random.Random(SEED), Counter[str]()
    for _ in range(ROUNDS):
        chosen = shapes(source)
        python(place, SHAPE, *chosen)
        # Without this the test could not fail.
        assert python(place, LOOK) == "somebody"
        assert place.clear() != ()
        assert python(place, LOOK) == "nobody", f"seed {SEED}: {chosen}"
        counts.update(shape.rpartition("+")[2] for shape in chosen)
    print(f"seed {SEED}: {counts.total()} ended after a command: {dict(counts)}")  # noqa: T201


def test_nothing_that_a_run_starts_outlives_its_supervisor(place: Sandbox):
    source, counts = random.Random(SEED + 1), Counter[str]()
    context = context_of(place)
    for _ in range(ROUNDS):
        chosen = shapes(source)
        request = request_of(place, SHAPE)
        seen = supervise(context, replace(request, argv=(*request.argv, *chosen)))
        assert (seen.lost, seen.exit_code) == (None, 0), f"seed {SEED}: {chosen}"
        assert seen.survivors != ()
        assert python(place, LOOK) == "nobody", f"seed {SEED}: {chosen}"
        counts.update(shape.rpartition("+")[2] for shape in chosen)
    print(f"seed {SEED}: {counts.total()} ended after a run: {dict(counts)}")  # noqa: T201


KEEP = """
import ctypes, os, sys
libc = ctypes.CDLL(None)
libc.shmget(0, 4096, 0o1600)
libc.semget(0, 1, 0o1600)
libc.msgget(0, 0o1600)
# A POSIX message queue.
libc.syscall(180 if os.uname().machine == "aarch64" else 240, b"left", os.O_CREAT, 0o600, None)
open("/dev/shm/left-%d" % os.getuid(), "w").write("from an earlier run")
if len(sys.argv) > 1:
    os.mkdir("/dev/shm/folder")
print("kept")
"""
KEPT = """
import os
names = [name for name in os.listdir("/dev/shm") if name.startswith(("left-", "folder"))]
lines = [line for kind in ("shm", "sem", "msg") for line in list(open("/proc/sysvipc/" + kind))[1:]]
queues = os.listdir("/dev/mqueue") if os.path.isdir("/dev/mqueue") else []
print(len(names) + len(lines) + len(queues))
"""
ISOLATING = [
    pytest.param(Kind.LOCAL, marks=ISOLATED),
    pytest.param(Kind.DOCKER, marks=pytest.mark.docker),
]


@pytest.mark.parametrize("kind", ISOLATING)
@pytest.mark.parametrize("more", [(), ("folder",)])
def test_no_memory_of_a_run_is_there_in_the_next(start: Start, kind: Kind, more: tuple[str, ...]):
    context = context_of(start(kind))
    request = request_of(context.sandbox, KEEP)
    kept = supervise(context, replace(request, argv=(*request.argv, *more)))
    assert (kept.lost, kept.log) == (None, b"kept\n")
    assert supervise(context, request_of(context.sandbox, KEPT)).log == b"0\n"


@pytest.mark.parametrize("kind", ISOLATING)
def test_no_memory_is_left_of_a_run_that_killed_its_supervisor(start: Start, kind: Kind):
    context = context_of(start(kind))
    killer = KEEP + "os.kill(os.getppid(), 9)\n"
    assert supervise(context, request_of(context.sandbox, killer)).lost is not None
    assert supervise(context, request_of(context.sandbox, KEPT)).log == b"0\n"


def test_memory_of_this_machine_stays_where_a_run_is_not_kept_apart(
    start: Start, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    isolate_nothing(monkeypatch, tmp_path)
    context = context_of(start(Kind.LOCAL))
    mine = Path(f"/dev/shm/reb-test-{os.getpid()}")
    mine.write_text("of this user")
    try:
        assert supervise(context, request_of(context.sandbox, "print(1)")).log == b"1\n"
        assert mine.read_text() == "of this user"
    finally:
        mine.unlink()


@ISOLATED
def test_local_command_sees_no_process_of_this_machine(start: Start):
    look = "import os; print(sorted(int(name) for name in os.listdir('/proc') if name.isdigit()))"
    assert python(start(Kind.LOCAL), look) == "[1, 2]"


@ISOLATED
def test_local_command_cannot_reach_the_processes_above_it(start: Start):
    reach = """
import os
for name in ("environ", "mem", "fd/3", "ns/pid"):
    try:
        os.close(os.open("/proc/1/" + name, os.O_RDONLY))
        print(name, "is open")
    except OSError:
        continue
"""
    assert python(start(Kind.LOCAL), reach) == ""


def test_second_trial_is_refused_where_nothing_would_keep_the_two_apart(
    start: Start, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    isolate_nothing(monkeypatch, tmp_path)
    first = start(Kind.LOCAL)
    other = spec_for(Kind.LOCAL, tmp_path / "other")
    with pytest.raises(
        UsageError, match=f"{first.spec.trial} is still running, .* use --sandbox docker"
    ):
        select.start(other)
    # The first goes on, and when it has ended, the next may begin.
    assert python(first, LOOK) == "nobody"
    first.remove()
    select.start(other).remove()


def test_leftover_trial_does_not_keep_the_next_from_beginning(
    start: Start, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    isolate_nothing(monkeypatch, tmp_path)
    killed = start(Kind.LOCAL)
    # Others may test on this machine at the same time.
    select.sweep(Kind.LOCAL, alive=lambda trace: trace.session != killed.spec.session)
    select.start(spec_for(Kind.LOCAL, tmp_path / "other")).remove()


def test_nothing_runs_after_a_command_that_got_rid_of_its_supervisor(
    start: Start, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    isolate_nothing(monkeypatch, tmp_path)
    sandbox = start(Kind.LOCAL)
    with pytest.raises(SandboxError, match="was killed"):
        python(sandbox, "import os, time; os.kill(os.getppid(), 9); time.sleep(4)")
    with pytest.raises(UnendedError, match=r"may still run, so no other command is started"):
        python(sandbox, LOOK)


# Without a PID namespace process 1 is the machine's, or that of the container that runs the tests.
@ISOLATED
def test_interrupt_of_process_1_does_not_end_the_command_or_its_supervisor(start):
    sandbox = start(Kind.LOCAL)
    ended = shell(sandbox, "kill -INT 1; echo still here")
    assert (ended.exit_code, ended.stdout) == (0, b"still here\n")


def test_command_itself_can_be_interrupted(start):
    ended = shell(start(Kind.LOCAL), "kill -INT $$; echo not reached")
    assert (ended.exit_code, ended.stdout) == (130, b"")


@pytest.mark.parametrize("name", [".halted", ".unended"])
def test_file_of_a_command_does_not_stop_the_sandbox(start, name):
    sandbox = start(Kind.LOCAL)
    shell(sandbox, f"echo give up > {sandbox.layout.workspace}/../{name}")
    assert shell(sandbox, "echo on").stdout == b"on\n"
