"""Runs one command of a local sandbox and adopts the processes that it leaves behind.

Started as `python -I -S supervise.py MODE IN OUT`. Reads {"argv", "cwd", "env", "folder",
"writable"} as JSON from the descriptor IN (the last two are of `confine.protect_places`), writes
the exit code in decimal to the descriptor OUT when the command has ended, and lives on until its
last descendant is gone.

MODE is the isolation. In `root` and `user` (with a user namespace) it is a PID namespace: the child
of this process is its process 1, the command sees no process outside, and when process 1 ends, the
kernel ends all others. In `none` there is no namespace: a process that left the session and emptied
its environment is still a descendant of this process. So it can be found and ended, unless it kills
this process first.

`python -I -S supervise.py MODE` ends with 0 if that mode works on this machine.
"""

import ctypes
import json
import os
import signal
import sys

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_CHILD_SUBREAPER = 36
CLONE_NEWNS = 0x00020000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
MS_NOSUID, MS_NODEV, MS_NOEXEC = 2, 4, 8
MS_REC, MS_SLAVE = 1 << 14, 1 << 19
# As `env -C FOLDER PROGRAM` ends when it cannot begin.
NO_FOLDER = 125
CANNOT_EXECUTE = 126
NOT_FOUND = 127

# Isolated and without site-packages, only the standard library is found.
sys.path.append(__file__.rpartition("/")[0])
import confine  # noqa: E402

libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    """Start the command, then wait for it and for all that it leaves."""
    mode, source, target = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    os.set_inheritable(target, False)
    # The kernel delivers to process 1 only signals with a handler, and Python handles SIGINT.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with os.fdopen(source, "rb") as stream:
        command = json.load(stream)
    places = command.pop("folder"), command.pop("writable")
    if mode == "none":
        libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        _serve(**command, target=target, mode=mode)
        return
    _leave(mode)
    init = os.fork()
    if init == 0:
        _become_init(*places)
        _serve(**command, target=target, mode=mode)
        os._exit(0)
    os.close(target)
    _let_go_of_the_streams()
    os.waitpid(init, 0)


def try_mode(mode: str) -> None:
    """End with 0 if process 1 of a namespace sees only itself."""
    if mode != "none":
        _leave(mode)
    init = os.fork()
    if init == 0:
        if mode != "none":
            _become_init()
        # pathlib would cost every command 10 ms.
        seen = [name for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208
        os._exit(0 if mode == "none" or seen == ["1"] else 1)
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(init, 0)[1]) & 127)


def _leave(mode: str) -> None:
    """Have the next child be process 1 of a new PID namespace, as the same user and group."""
    uid, gid = os.getuid(), os.getgid()
    if mode == "root":
        confine.demand(libc.unshare(CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWNS))
        return
    confine.demand(libc.unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWNS))
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{uid} {uid} 1"),
        ("gid_map", f"{gid} {gid} 1"),
    ):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as stream:  # noqa: PTH123
            stream.write(text)


def _become_init(folder: str | None = None, writable: str | None = None) -> None:
    """Mount a /proc with this namespace's processes only, and deny them access to this one."""
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    confine.demand(libc.mount(b"none", b"/", None, MS_REC | MS_SLAVE, None))
    # Like the IPC namespace, only for this command: shared memory ends with it.
    _mount(b"tmpfs", "/dev/shm", options=b"mode=1777")  # noqa: S108
    _mount(b"mqueue", "/dev/mqueue")
    confine.demand(libc.mount(b"proc", b"/proc", b"proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, None))
    confine.protect_places(folder, writable)


def _mount(kind: bytes, place: str, options: bytes | None = None) -> None:
    if os.path.isdir(place):  # noqa: PTH112 - pathlib costs 10 ms
        confine.demand(libc.mount(kind, place.encode(), kind, MS_NOSUID | MS_NODEV, options))


def _serve(argv: list[str], cwd: str, env: dict[str, str], *, target: int, mode: str) -> None:
    child = os.fork()
    if child == 0:
        # So that a signal to its own group does not reach a supervisor.
        os.setsid()
        if mode != "none":
            confine.forbid_user_namespaces()
        if mode == "root":
            confine.drop_capabilities()
        _execute(argv, cwd, env)
    _let_go_of_the_streams()
    _reap(child, target)


def _execute(argv: list[str], cwd: str, env: dict[str, str]) -> None:
    # Ignored above or by Python itself; an ignored signal would stay ignored in the command.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    code = NO_FOLDER
    try:
        os.chdir(cwd)
        code = CANNOT_EXECUTE
        os.execvpe(argv[0], argv, env)  # noqa: S606 - the command, as argv, is the whole point
    except OSError as error:
        if code == CANNOT_EXECUTE and isinstance(error, FileNotFoundError):
            code = NOT_FOUND
        os.write(2, f"{argv[0]}: {error}\n".encode(errors="replace"))
    finally:
        os._exit(code)


def _let_go_of_the_streams() -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)


def _reap(child: int, target: int) -> None:
    while True:
        try:
            pid, status = os.wait()
        except ChildProcessError:
            return
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            os.write(target, str(code if code >= 0 else 128 - code).encode())
            os.close(target)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        main()
    else:
        try_mode(sys.argv[1])
