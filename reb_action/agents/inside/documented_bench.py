"""The bench of `documented.py`: its job and time, the commands that it runs, and its attempts.

Standard library only, Python 3.8 syntax: it lies beside `documented.py` in a sandbox, and runs in
the system's Python.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

TAIL_BYTES = 64 * 1024
LINE_CHARACTERS = 300
ERROR = re.compile(
    r"^\s*(ERROR|error|E|fatal)\b ?:|\b\w*(Error|Exception)\b|not found|No such file"
)


class Attempt:
    """How far the instructions came with one version of Python.

    `stage` is where they ended: environment, install, command, or done. `step` is the line that
    failed, `code` its exit code and `line` the line of its output that says why.
    """

    def __init__(self, python: str) -> None:
        self.python = python
        self.path = ""
        self.stage = "environment"
        self.step = ""
        self.code = 0
        self.line = ""
        self.seconds = 0.0
        self.reported = False

    def end(self, stage: str, code: int, step: str, text: str) -> None:
        """Record where it ended."""
        self.stage, self.code = stage, code
        self.step, self.line = step[:LINE_CHARACTERS], decisive(text)


class Bench:
    """One run of the instructions: what they say, where they run, and the time that is left."""

    def __init__(self, job: dict[str, Any], environ: dict[str, str]) -> None:
        self.job = job
        self.environ = environ
        self.repo = Path(environ["REB_REPOSITORY"])
        self.home = Path(environ["HOME"])
        seconds = float(environ["REB_DEADLINE_SECONDS"])
        self.stop = time.monotonic() + 0.85 * seconds
        self.attempts: list[Attempt] = []
        self.journal: list[str] = []

    def say(self, line: str) -> None:
        """Write a line into the log and the notes of the report."""
        self.journal.append(line)
        sys.stdout.write(f"documented: {line}\n")
        sys.stdout.flush()

    @property
    def left(self) -> float:
        """Seconds that are left for installing and running."""
        return self.stop - time.monotonic()

    @property
    def conda(self) -> bool:
        """Whether the instructions make a conda environment."""
        return bool(self.job["conda"])


def fill(text: str, names: dict[str, str]) -> str:
    """Replace the names in braces; other braces stay."""
    return re.sub(r"\{([a-z]+)\}", lambda match: names.get(match.group(1), match.group(0)), text)


def within(bench: Bench, venv: Path) -> dict[str, str]:
    """Return the variables of a shell in which an environment is active, without a GPU."""
    path = f"{venv / 'bin'}:{bench.environ.get('PATH', os.defpath)}"
    own = {"PATH": path, "VIRTUAL_ENV": str(venv), "CUDA_VISIBLE_DEVICES": ""}
    return {**bench.environ, **own}


def decisive(text: str) -> str:
    """Return the line of an output that most likely says why it failed."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if ERROR.search(line)]
    return (telling or lines or ["no output"])[-1][:LINE_CHARACTERS]


def ended(
    bench: Bench,
    argv: list[str],
    environ: dict[str, str],
    *,
    cwd: str | None = None,
    seconds: float | None = None,
    quiet: bool = False,
) -> tuple[int, str]:
    """Run a command to its end or the deadline; return its exit code and the end of its output."""
    limit = max(min(bench.left, seconds or bench.left), 1.0)
    log = bench.home / ".documented-log"
    show("$ " + " ".join(argv)[:LINE_CHARACTERS], quiet=quiet)
    with log.open("wb") as stream:
        try:
            process = subprocess.Popen(
                argv,
                cwd=cwd or str(bench.repo),
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            return 127, f"{argv[0]}: {error.strerror}"
        code, late = wait(process, limit)
    text = log.read_bytes()[-TAIL_BYTES:].decode("utf-8", "replace")
    show(text, quiet=quiet)
    return code, f"{text}\nError: not ended after {limit:.0f} s" if late else text


def show(text: str, *, quiet: bool) -> None:
    """Write a line to the log of the agent, and flush it: the log is shown live."""
    if not quiet:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()


def wait(process: subprocess.Popen[bytes], limit: float) -> tuple[int, bool]:
    """Return the exit code, and whether the command had to be ended with all that it started."""
    try:
        return process.wait(timeout=limit), False
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.wait(), True
