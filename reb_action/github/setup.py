"""Sets `reb` up on a runner: the locked packages in the tool cache, and a launcher next to them.

    python3 -I setup.py

Standard library only, and a syntax that an old `python3` can parse, to report that it is too old.
It writes the step outputs `reb` (the launcher), `folder` (a fresh name for a trial's folder) and
`deadline` (seconds since the epoch, from REB_JOB_MINUTES; empty without).
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import sys
import time
import uuid
from pathlib import Path
from typing import Iterable, Iterator, NoReturn, TextIO

OLDEST = (3, 11)
LATEST = (3, 14)
ACTION = Path(__file__).resolve().parent.parent.parent
LOCK = ACTION / "requirements.lock"
LOCK_SECONDS = 900

# Python runs isolated, so the action's folder is not on its path.
sys.path.append(str(ACTION))
sys.dont_write_bytecode = True
from reb_action.github.packages import SetupError, install  # noqa: E402


def main() -> None:
    """Build or find the environment and pass its path to the later steps."""
    if sys.version_info < OLDEST:
        hand_over()
    began = time.monotonic()
    try:
        environment, cached = ready(places(), key())
    except SetupError as error:
        fail(str(error))
    launcher = write_launcher(environment)
    folder = temp() / "researchenvbench" / uuid.uuid4().hex[:12]
    tell(reb=str(launcher), folder=str(folder), deadline=deadline())
    how = "found in the tool cache" if cached else "installed"
    print(f"reb is {how} after {time.monotonic() - began:.1f} s: {environment}")


def hand_over() -> None:
    """Start again with a Python that is new enough, or fail if there is none."""
    names = [f"python3.{minor}" for minor in range(LATEST[1], OLDEST[1] - 1, -1)]
    found = [path for path in (shutil.which(name) for name in names) if path]
    found += [str(path) for path in in_tool_cache()]
    if not found:
        have = platform.python_version()
        wanted = ".".join(str(part) for part in OLDEST)
        fail(f"python3 is {have} and no newer one is here; add actions/setup-python ({wanted})")
    os.execv(found[0], [found[0], "-I", __file__])  # noqa: S606


def in_tool_cache() -> list[Path]:
    """Return the interpreters that actions/setup-python left, the newest first."""
    root = Path(os.environ.get("RUNNER_TOOL_CACHE") or os.devnull) / "Python"
    names = [path for path in root.glob("3.*/*/bin/python3") if OLDEST <= version(path) <= LATEST]
    return sorted(names, key=version, reverse=True)


def version(path: Path) -> tuple[int, ...]:
    """Return the two numbers in the name of a folder such as `3.12.4`."""
    return tuple(int(part) for part in path.parent.parent.parent.name.split(".")[:2])


def key() -> str:
    """Return the name of the environment: a digest of its content and its interpreter."""
    interpreter = f"{platform.python_version()} {os.path.realpath(sys.executable)}"
    what = f"{interpreter} {platform.machine()}\n".encode() + LOCK.read_bytes()
    return hashlib.sha256(what).hexdigest()[:20]


def places() -> Iterator[Path]:
    """Yield where environments may be kept, the best first."""
    cache = os.environ.get("RUNNER_TOOL_CACHE")
    if cache:
        yield Path(cache) / "researchenvbench"
    yield temp() / "researchenvbench"


def temp() -> Path:
    """Return the folder that the runner empties before and after each job."""
    place = os.environ.get("RUNNER_TEMP")
    if not place:
        fail("RUNNER_TEMP is not set; this script is for a runner")
    return Path(place)


def ready(places: Iterable[Path], name: str) -> tuple[Path, bool]:
    """Return the environment and whether it existed; several processes at once build it once."""
    for place in places:
        done = place / name
        if (done / "bin" / "python").exists():
            return done, True
        try:
            place.mkdir(parents=True, exist_ok=True)
            lock = (place / f"{name}.lock").open("w")
        except OSError:
            continue
        with lock:
            seize(lock, place)
            if not (done / "bin" / "python").exists():
                build(place / f"{name}.part", done)
                return done, False
            return done, True
    return fail("neither RUNNER_TOOL_CACHE nor RUNNER_TEMP can be written to; make one writable")


def seize(lock: TextIO, place: Path) -> None:
    """Wait for our turn; the kernel gives it back when a builder is killed."""
    import fcntl  # noqa: PLC0415

    give_up = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except OSError:
            if time.monotonic() > give_up:
                fail(f"another job has been installing into {place} for 15 minutes; remove it")
            time.sleep(0.2)


def build(part: Path, done: Path) -> None:
    """Install the lock into `part`, then rename it; a killed builder may have left either."""
    shutil.rmtree(str(part), ignore_errors=True)
    shutil.rmtree(str(done), ignore_errors=True)
    install(part, LOCK, scratch=temp())
    part.rename(done)


def write_launcher(environment: Path) -> Path:
    """Write the command of this version of the action; the tool cache holds packages only."""
    python, main = environment / "bin" / "python", ACTION / "reb_action" / "__main__.py"
    # A runner's log is not a terminal.
    text = f'#!/bin/sh\nexport TERM=dumb\nexec {quote(python)} -I {quote(main)} "$@"\n'
    place = temp() / "researchenvbench"
    place.mkdir(parents=True, exist_ok=True)
    launcher = place / f"reb-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    mine = place / f".{uuid.uuid4().hex}"
    mine.write_text(text)
    mine.chmod(0o755)
    mine.replace(launcher)
    return launcher


def quote(path: Path) -> str:
    """Return a path as one word of the shell."""
    return "'" + str(path).replace("'", "'\\''") + "'"


def deadline() -> str:
    """Return the end of this job, in seconds since the epoch; "" if job-minutes is not set."""
    minutes = os.environ.get("REB_JOB_MINUTES", "").strip()
    if not minutes:
        return ""
    if not re.fullmatch("[1-9][0-9]{0,3}", minutes) or int(minutes) > 7200:
        told = f"job-minutes is {minutes[:20]!r}; give whole minutes from 1 to 7200"
        fail(f"{told}, or leave it out", code=2)
    return str(int(time.time()) + 60 * int(minutes))


def tell(**outputs: str) -> None:
    """Write the step's outputs; no value has a line break."""
    with open(os.environ.get("GITHUB_OUTPUT") or os.devnull, "a") as stream:  # noqa: PTH123
        stream.writelines(f"{name}={value}\n" for name, value in outputs.items())


def fail(message: str, *, code: int = 6) -> NoReturn:
    """End with one line that names what is missing; docs/action.md lists the codes."""
    text = message.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    print(f"::error title=researchenvbench::{text}")
    sys.exit(code)


if __name__ == "__main__":
    main()
