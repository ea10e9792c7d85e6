"""Installs the locked packages into a new virtual environment, for the set-up step.

Standard library only; the syntax is that of old Pythons, because setup.py imports it first.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Iterator

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
"""Variables of pip that set the source of packages, as options of pip and of uv.

The lock's hashes verify the packages from any source.
"""

KEPT = (
    *("HOME", "PATH", "TMPDIR", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
)
"""The only variables of the caller's environment that the installing commands get."""


class SetupError(Exception):
    """The packages could not be installed; the message is one line."""


def install(part: Path, lock: Path, *, scratch: Path) -> None:
    """Make the virtual environment `part` and install the lock into it.

    pip installs uv, and uv the rest: pip alone takes about twice as long. Raises SetupError.
    """
    pip = make_environment(part)
    packages = "(set PIP_INDEX_URL where the runner has a mirror)"
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        uv_lock = Path(folder) / "uv.lock"
        uv_lock.write_text(lock_entry(lock, "uv"))
        run(
            f"install uv {packages}",
            *(*pip, "--isolated", "--disable-pip-version-check", "--no-input", "--quiet"),
            *(*pip_options(), "install", "--require-hashes", "--no-deps", "--no-cache-dir"),
            *("--only-binary=:all:", *index_options(0), "-r", uv_lock),
        )
        run(
            f"install the locked packages {packages}",
            *(part / "bin" / "uv", "pip", "sync", "--quiet", "--no-config", "--no-cache"),
            *("--require-hashes", "--only-binary=:all:", *index_options(1), lock),
            VIRTUAL_ENV=str(part),
        )


def make_environment(part: Path) -> list[str]:
    """Make a virtual environment and return the pip command that installs into it.

    Using the pip of this machine saves three seconds, which the environment's own would take.
    """
    venv = [sys.executable, "-I", "-m", "venv"]
    what = "make a virtual environment (is python3-venv installed?)"
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


def lock_entry(lock: Path, package: str) -> str:
    """Return the lines of the lock that pin one package and its hashes."""
    lines = lock.read_text().splitlines()
    begins = [number for number, line in enumerate(lines) if line.startswith(f"{package}==")]
    if not begins:
        raise SetupError(f"{lock.name} does not pin {package}; run `make lock`")
    entry = lines[begins[0] :]
    length = next((number for number, line in enumerate(entry) if not line.endswith("\\")), 0)
    return "\n".join(entry[: length + 1]) + "\n"


def run(what: str, *argv: object, **extra: str) -> None:
    """Run one command with only those variables that are needed to reach the packages."""
    env = {name: os.environ[name] for name in KEPT if name in os.environ}
    env.update(extra, PIP_CONFIG_FILE=os.devnull, UV_PYTHON_DOWNLOADS="never")
    if os.environ.get("PIP_CERT"):
        env["SSL_CERT_FILE"] = os.environ["PIP_CERT"]
    words = [str(word) for word in argv]
    ended = subprocess.run(words, env=env, stdin=subprocess.DEVNULL, cwd="/", check=False)
    if ended.returncode != 0:
        raise SetupError(f"could not {what}; see the lines above")


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
