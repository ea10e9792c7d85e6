"""Makes `reb` ready on a runner: the locked packages in the tool cache, and a launcher beside them.

    python3 -I install.py

Standard library only, and a syntax that an old `python3` can read far enough to say what it lacks.
It writes the step outputs `reb` (the launcher), `folder` (a fresh name for a trial's folder) and
`deadline` (seconds since the epoch, from REB_JOB_MINUTES; empty without).
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import Iterable, Iterator, NoReturn, TextIO

OLDEST = (3, 11)
LATEST = (3, 14)
ACTION = Path(__file__).resolve().parent.parent.parent
LOCK = ACTION / "requirements.lock"
LOCK_SECONDS = 900
# The first with --python.
OLDEST_PIP = (22, 3)

PIP_OPTIONS = ("CERT", "CLIENT_CERT", "DEFAULT_TIMEOUT", "PROXY", "RETRIES")
"""Variables of pip that only the download of uv needs, as options of pip."""

INDEX_OPTIONS = {
    "EXTRA_INDEX_URL": ("--extra-index-url", "--index"),
    "FIND_LINKS": ("--find-links", "--find-links"),
    "INDEX_URL": ("--index-url", "--default-index"),
    "NO_INDEX": ("--no-index", "--no-index"),
    "TRUSTED_HOST": ("--trusted-host", "--allow-insecure-host"),
}
"""Variables of pip that say where packages come from, as options of pip and of uv.

The lock's hashes say what the packages are, wherever they come from.
"""

KEPT = (
    *("HOME", "PATH", "TMPDIR", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
)
"""All that the installing commands get of the caller's environment."""


def main() -> None:
    """Build or find the environment and tell the later steps where it is."""
    if sys.version_info < OLDEST:
        hand_over()
    began = time.monotonic()
    environment, cached = ready(places(), key())
    launcher = write_launcher(environment)
    folder = temp() / "researchenvbench" / uuid.uuid4().hex[:12]
    tell(reb=str(launcher), folder=str(folder), deadline=deadline())
    how = "found in the tool cache" if cached else "installed"
    print(f"reb is {how} after {time.monotonic() - began:.1f} s: {environment}")


def hand_over() -> None:
    """Start again with a Python that is new enough, or say that there is none."""
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
    """Return the name of the environment: what is in it, and what it was made with."""
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
    """Return the environment and whether it was there; built once, also when many ask at once."""
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
    """Install the lock into `part`, which a killed builder may have left; then rename it.

    pip installs uv, and uv the rest: pip alone takes about twice as long.
    """
    shutil.rmtree(str(part), ignore_errors=True)
    shutil.rmtree(str(done), ignore_errors=True)
    pip = make_environment(part)
    packages = "(set PIP_INDEX_URL where the runner has a mirror)"
    with tempfile.TemporaryDirectory(dir=temp()) as folder:
        uv_lock = Path(folder) / "uv.lock"
        uv_lock.write_text(lock_entry("uv"))
        run(
            f"install uv {packages}",
            *(*pip, "--isolated", "--disable-pip-version-check", "--no-input", "--quiet"),
            *(*pip_options(), "install", "--require-hashes", "--no-deps", "--no-cache-dir"),
            *("--only-binary=:all:", *index_options(0), "-r", uv_lock),
        )
        run(
            f"install the locked packages {packages}",
            *(part / "bin" / "uv", "pip", "sync", "--quiet", "--no-config", "--no-cache"),
            *("--require-hashes", "--only-binary=:all:", *index_options(1), LOCK),
            VIRTUAL_ENV=str(part),
        )
    part.rename(done)


def make_environment(part: Path) -> list[str]:
    """Make a virtual environment and return the pip command that installs into it.

    A pip of this machine spares the three seconds that a pip of its own would take.
    """
    venv = [sys.executable, "-I", "-m", "venv"]
    what = "make a virtual environment (is python3-venv there?)"
    python = str(part / "bin" / "python")
    if pip_version() >= OLDEST_PIP:
        run(what, *venv, "--without-pip", part)
        return [sys.executable, "-I", "-m", "pip", "--python", python]
    run(what, *venv, part)
    return [python, "-I", "-m", "pip"]


def pip_version() -> tuple[int, ...]:
    """Return the version of this interpreter's pip as two numbers; empty without pip."""
    from importlib import metadata  # noqa: PLC0415 - an old Python, which hands over, lacks it

    try:
        numbers = re.match(r"(\d+)\.(\d+)", metadata.version("pip"))
    except metadata.PackageNotFoundError:
        return ()
    return tuple(int(number) for number in numbers.groups()) if numbers else ()


def lock_entry(package: str) -> str:
    """Return the lines of the lock that pin one package and its hashes."""
    lines = LOCK.read_text().splitlines()
    begins = [number for number, line in enumerate(lines) if line.startswith(f"{package}==")]
    if not begins:
        fail(f"{LOCK.name} does not pin {package}; run `make lock`")
    entry = lines[begins[0] :]
    length = next((number for number, line in enumerate(entry) if not line.endswith("\\")), 0)
    return "\n".join(entry[: length + 1]) + "\n"


def run(what: str, *argv: object, **extra: str) -> None:
    """Run one command with nothing of the caller's environment but the way to the packages."""
    env = {name: os.environ[name] for name in KEPT if name in os.environ}
    env.update(extra, PIP_CONFIG_FILE=os.devnull, UV_PYTHON_DOWNLOADS="never")
    if os.environ.get("PIP_CERT"):
        env["SSL_CERT_FILE"] = os.environ["PIP_CERT"]
    words = [str(word) for word in argv]
    ended = subprocess.run(words, env=env, stdin=subprocess.DEVNULL, cwd="/", check=False)
    if ended.returncode != 0:
        fail(f"could not {what}; see the lines above")


def pip_options() -> Iterator[str]:
    """Return pip's options for its variables; `--isolated` makes pip ignore the variables."""
    for name in PIP_OPTIONS:
        option = "--timeout" if name == "DEFAULT_TIMEOUT" else f"--{name.lower().replace('_', '-')}"
        value = os.environ.get(f"PIP_{name}", "")
        yield from [f"{option}={value}"] if value else []


def index_options(which: int) -> Iterator[str]:
    """Return where packages come from as options of pip (0) or of uv (1)."""
    for name, options in INDEX_OPTIONS.items():
        value = os.environ.get(f"PIP_{name}", "")
        if name == "NO_INDEX":
            yield from [options[which]] if value else []
        else:
            yield from (f"{options[which]}={word}" for word in value.split())


def write_launcher(environment: Path) -> Path:
    """Write the command of this version of the action; the tool cache holds packages only."""
    python, main = environment / "bin" / "python", ACTION / "reb_action" / "__main__.py"
    # A runner's log is no terminal, whatever it is attached to.
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
    """Return when the runner will end this job, in seconds since the epoch, if we were told."""
    minutes = os.environ.get("REB_JOB_MINUTES", "").strip()
    if not minutes:
        return ""
    if not re.fullmatch("[1-9][0-9]{0,3}", minutes) or int(minutes) > 7200:
        told = f"job-minutes is {minutes[:20]!r}; give whole minutes from 1 to 7200"
        fail(f"{told}, or leave it out", code=2)
    return str(int(time.time()) + 60 * int(minutes))


def tell(**outputs: str) -> None:
    """Write the step's outputs; no value of ours has a line break."""
    with open(os.environ.get("GITHUB_OUTPUT") or os.devnull, "a") as stream:  # noqa: PTH123
        stream.writelines(f"{name}={value}\n" for name, value in outputs.items())


def fail(message: str, *, code: int = 6) -> NoReturn:
    """End with one line that says what is missing; docs/action.md lists the codes."""
    text = message.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    print(f"::error title=researchenvbench::{text}")
    sys.exit(code)


if __name__ == "__main__":
    main()
