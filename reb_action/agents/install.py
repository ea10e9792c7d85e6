"""Installs the program of an agent once for each machine, outside the measured environment.

The program goes to a folder of the cache, which is mounted read-only into the agent's sandbox. A
digest of all inputs of the installation names the folder. For the Docker sandbox the installation
runs in a temporary container of the same image.
"""

import fcntl
import hashlib
import json
import platform
import shutil
import subprocess
import time
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from reb_action.agents.install_commands import SYSTEM_PATH, list_commands, list_files
from reb_action.agents.spec import AgentSpec
from reb_action.documents import Json
from reb_action.errors import ToolchainError
from reb_action.model.quantity import count
from reb_action.sandbox import select
from reb_action.sandbox.layout import SandboxLayout
from reb_action.sandbox.local.processes import MARKER, format_marker
from reb_action.sandbox.owner import Trace, make_trace
from reb_action.sandbox.protocol import Command, Ended, Kind, Limits, SandboxSpec

_DONE: Final = "installed.json"
# Raised whenever the same pins would give another folder.
_FORMAT: Final = 1
# The id of a trial has no slash.
_TRIAL: Final = "install/"


def cache_folder(environ: Mapping[str, str]) -> Path:
    """Return where installed programs are kept: below REB_CACHE, or else the user's cache."""
    base = environ.get("REB_CACHE")
    return Path(base) if base else Path.home() / ".cache" / "researchenvbench"


def place(spec: AgentSpec, *, kind: Kind, image: str | None, cache: Path) -> Path | None:
    """Return the folder of the agent's program, installed or not; None if it has no program."""
    install = spec.install
    if install is None:
        return None
    where = _image_id(image) if kind is Kind.DOCKER else platform.machine()
    lock = hashlib.sha256(install.lock or b"").hexdigest()
    pins = (_FORMAT, kind, where, install.source, install.package, install.version, lock)
    key = hashlib.sha256(json.dumps([*pins, install.python]).encode()).hexdigest()[:16]
    return cache / "agents" / f"{spec.name}-{install.version[:12]}-{key}"


def _image_id(image: str | None) -> str:
    # Imported here: only Docker's sandbox needs its SDK.
    from reb_action.sandbox.docker import connection  # noqa: PLC0415

    return connection.connect().image_id(image or "")


def is_installed(folder: Path) -> bool:
    """Return whether a program was installed there completely."""
    return (folder / _DONE).is_file()


def ensure(
    spec: AgentSpec,
    *,
    kind: Kind,
    image: str | None,
    cache: Path,
    settings: Mapping[str, str],
    seconds: int,
) -> Path | None:
    """Return the folder of the agent's program, installed now if it is not there yet.

    Raises ToolchainError when that fails or takes more than `seconds`. `settings` are those of
    `environment.installation_settings`: package indexes, CA bundles, proxies.
    """
    folder = place(spec, kind=kind, image=image, cache=cache)
    if folder is None or spec.install is None:
        return None
    with _locked(folder):
        if not is_installed(folder):
            # One that was killed may still write there.
            _end(_sandbox(folder, kind=kind, image=image))
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            _install(spec, folder, kind=kind, image=image, settings=settings, seconds=seconds)
    return folder


def _install(
    spec: AgentSpec,
    folder: Path,
    *,
    kind: Kind,
    image: str | None,
    settings: Mapping[str, str],
    seconds: int,
) -> None:
    install = spec.install
    assert install is not None  # noqa: S101
    inside = SandboxLayout().cli if kind is Kind.DOCKER else str(folder)
    for name, text in list_files(install).items():
        (folder / name).write_bytes(text)
    commands = list_commands(install, inside, settings=settings, seconds=seconds)
    sandbox = _sandbox(folder, kind=kind, image=image)
    try:
        if kind is Kind.DOCKER:
            from reb_action.sandbox.docker import workshop  # noqa: PLC0415

            failed = workshop.work(sandbox, folder, commands)
        else:
            failed = _here(commands, marker=format_marker(make_trace(sandbox)))
    finally:
        # This also removes the container of an interrupted call.
        _end(sandbox)
    if failed is not None:
        raise ToolchainError(_complaint(spec, failed, seconds))
    done: Json = {"agent": spec.name, "package": install.package, "version": install.version}
    (folder / _DONE).write_text(json.dumps(done) + "\n", encoding="utf-8")


def _sandbox(folder: Path, *, kind: Kind, image: str | None) -> SandboxSpec:
    """Return the sandbox in which a folder is filled; the same folder has the same session."""
    return SandboxSpec(
        kind=kind,
        session=hashlib.sha256(str(folder.absolute()).encode()).hexdigest()[:16],
        trial=f"{_TRIAL}{folder.name}",
        image=image,
        mount=str(folder),
        scratch=str(folder),
        limits=Limits(seconds=4 * 3600),
    )


def _end(sandbox: SandboxSpec) -> None:
    select.sweep(sandbox.kind, alive=lambda trace: trace.session != sandbox.session)


def _here(commands: Iterable[Command], *, marker: str) -> Ended | None:
    for command in commands:
        began = time.monotonic()
        # With the caller's PATH: a tool may come from anywhere on this machine.
        program = shutil.which(command.argv[0])
        if program is None:
            raise ToolchainError(f"this machine has no {command.argv[0]}; install it")
        try:
            done = subprocess.run(
                (program, *command.argv[1:]),
                cwd=command.cwd,
                env={
                    **command.env,
                    "PATH": f"{Path(program).parent}:{SYSTEM_PATH}",
                    MARKER: marker,
                },
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=command.timeout_seconds,
                check=False,
            )
            code, out, err = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired as late:
            code, out, err = None, late.stdout or b"", late.stderr or b""
        if code != 0:
            return Ended(
                exit_code=code,
                timed_out=code is None,
                seconds=time.monotonic() - began,
                stdout=out,
                stderr=err,
            )
    return None


def _complaint(spec: AgentSpec, failed: Ended, seconds: int) -> str:
    if failed.timed_out:
        limit = count(seconds, "second")
        return f"installing {spec.name} took more than {limit}; try again, or raise --setup-seconds"
    said = b"\n".join((failed.stdout, failed.stderr)).decode("utf-8", "replace").strip()
    return (
        f"{spec.name} {spec.install.version if spec.install else ''} cannot be installed"
        f" ({said[-300:]}); check the package index and the pin in {spec.name}.yaml"
    )


def is_one(trace: Trace) -> bool:
    """Return whether a trace belongs to an installation: the id of a trial has no such sign."""
    return trace.trial.startswith(_TRIAL)


def goes_on(trace: Trace) -> bool:
    """Return whether an installation still runs: then its process holds the folder's lock."""
    try:
        with _lock(Path(trace.mount)).open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        # The lock is held, or it is in another user's cache and its state is unknown.
        return True
    return False


@contextmanager
def _locked(folder: Path) -> Generator[None]:
    """Keep others of this machine from the same folder; they wait and find it filled."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _lock(folder).open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _lock(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.lock")
