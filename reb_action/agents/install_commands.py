"""The files and commands that install an agent's pinned package from npm, PyPI or git."""

import json
import time
from collections.abc import Iterator, Mapping
from typing import Final, assert_never

from reb_action.agents.spec import Install, Source
from reb_action.sandbox.protocol import Command

SYSTEM_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def list_files(install: Install) -> dict[str, bytes]:
    """Return the files that define the installation, by name."""
    if install.source is not Source.NPM:
        return {"requirements.txt": install.lock or b""}
    wanted = {
        "private": True,
        "dependencies": {install.package: install.version},
        # Newer npm runs no install scripts by default; some packages link their program in one.
        "allowScripts": {install.package: True},
    }
    locked = {} if install.lock is None else {"package-lock.json": install.lock}
    return {"package.json": json.dumps(wanted).encode(), **locked}


def list_commands(
    install: Install, folder: str, *, settings: Mapping[str, str], seconds: int
) -> Iterator[Command]:
    """Yield the commands that install a package; all together get so many seconds."""
    deadline = time.monotonic() + seconds
    # Of the throw-away container, or private by its name: caches end with the installation.
    home = f"{folder}/.home"
    env = {
        "PATH": SYSTEM_PATH,
        "HOME": home,
        "CI": "true",
        "UV_CACHE_DIR": f"{home}/uv",
        "UV_PYTHON_INSTALL_DIR": f"{folder}/python",
        "UV_NO_PROGRESS": "1",
        "NPM_CONFIG_UPDATE_NOTIFIER": "false",
        **settings,
    }
    for argv in (*_steps(install, folder), ("rm", "-rf", home)):
        left = max(1.0, deadline - time.monotonic())
        yield Command(argv=argv, cwd=folder, env=env, timeout_seconds=left)


def _steps(install: Install, folder: str) -> tuple[tuple[str, ...], ...]:
    python = f"{folder}/venv/bin/python"
    venv = ("uv", "venv", "--quiet", "--python", install.python or "python3", f"{folder}/venv")
    pip = ("uv", "pip", "install", "--quiet", "--compile-bytecode", "--python", python)
    locked = (*pip, "--require-hashes", "-r", f"{folder}/requirements.txt")
    match install.source:
        case Source.NPM:
            return (("npm", "install", "--no-audit", "--no-fund", "--loglevel=error"),)
        case Source.PYPI:
            plain = (*pip, f"{install.package}=={install.version}")
            return (venv, plain if install.lock is None else locked)
        case Source.GIT:
            named = f"git+{install.package}@{install.version}"
            return (
                (venv, (*pip, named))
                if install.lock is None
                else (venv, locked, (*pip, "--no-deps", named))
            )
        case _:
            assert_never(install.source)
