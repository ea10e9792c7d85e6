"""Runs one command of a local sandbox and adopts whatever it leaves behind.

Started as `python -I -S supervise.py IN OUT`. Reads {"argv", "cwd", "env"} as JSON from the
descriptor IN, writes the exit code in decimal to the descriptor OUT when the command has ended,
and lives on until its last descendant is gone: a process that left the session and emptied its
environment is still a descendant of this one, and so can still be found and ended.
"""

import ctypes
import json
import os
import signal
import sys

PR_SET_CHILD_SUBREAPER = 36
# As `env -C FOLDER PROGRAM` ends when it cannot begin.
NO_FOLDER = 125
CANNOT_EXECUTE = 126
NOT_FOUND = 127


def main() -> None:
    """Start the command, then wait for it and for all that it leaves."""
    source, target = int(sys.argv[1]), int(sys.argv[2])
    os.set_inheritable(target, False)
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    with os.fdopen(source, "rb") as stream:
        command = json.load(stream)
    child = os.fork()
    if child == 0:
        _execute(command["argv"], command["cwd"], command["env"])
    _let_go_of_the_streams()
    _reap(child, target)


def _execute(argv: list[str], cwd: str, env: dict[str, str]) -> None:
    # Python ignores these two; an ignored signal would stay ignored in the command.
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
    main()
