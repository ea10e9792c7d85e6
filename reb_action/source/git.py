"""Runs git isolated: with the configuration `gitconfig` only, no credentials, prompts or hooks."""

import logging
import os
import shlex
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from reb_action.documents import show
from reb_action.errors import SourceError

SECONDS: Final = 300
_ABSENT: Final = 1
_log: Final = logging.getLogger(__name__)

_FROM_OUTSIDE: Final = (
    "PATH",
    *("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO"),
)
"""How this machine reaches the network; nothing else of its environment matters to git."""

_ENVIRONMENT: Final = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": str(Path(__file__).with_name("gitconfig")),
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_LFS_SKIP_SMUDGE": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    # curl would read .netrc there.
    "HOME": os.devnull,
    "LC_ALL": "C",
}


def run_git(
    git_dir: Path,
    *arguments: str,
    to: str,
    seconds: float = SECONDS,
    protocol: str = "none",
    stdin: bytes = b"",
    index: Path | None = None,
) -> bytes:
    """Run git on one git folder, never on a parent folder, and return its output.

    `to` describes the action in an error message; `index` replaces the folder's own index.
    Raises SourceError.
    """
    argv = ("git", f"--git-dir={git_dir}", *arguments)
    _log.info("$ %s", shlex.join(argv))
    code, stdout, stderr = _run(argv, seconds=seconds, protocol=protocol, stdin=stdin, index=index)
    demand_success(code, stderr.decode("utf-8", "replace"), to=to, seconds=seconds)
    return stdout


def try_git(
    git_dir: Path,
    *arguments: str,
    protocol: str,
    settings: Mapping[str, str],
    seconds: float = SECONDS,
) -> tuple[int | None, str, str]:
    """Run git and return its exit code (None: it took too long), its output and its errors.

    `settings` are git's configuration. They travel in the environment, since one may be a secret.
    """
    argv = ("git", f"--git-dir={git_dir}", *arguments)
    _log.info("$ %s", shlex.join(argv))
    code, stdout, stderr = _run(argv, seconds=seconds, protocol=protocol, settings=settings)
    return code, stdout.decode("utf-8", "replace"), stderr.decode("utf-8", "replace")


def has_commit(git_dir: Path, commit: str) -> bool:
    """Return whether a git folder has a commit of this full id; a git that cannot tell raises."""
    to, wanted = "look the commit up", f"{commit}^{{commit}}"
    argv = ("git", f"--git-dir={git_dir}", "rev-parse", "--quiet", "--verify", wanted)
    code, _, stderr = _run(argv, seconds=SECONDS, protocol="none")
    if code != _ABSENT:
        demand_success(code, stderr.decode("utf-8", "replace"), to=to)
    return code == 0


def demand_success(code: int | None, errors: str, *, to: str, seconds: float = SECONDS) -> None:
    """Raise SourceError, with the cause that git names, unless it ended with 0."""
    if code is None:
        raise SourceError(f"cannot {to}: git took longer than {seconds:.0f} seconds")
    if code != 0:
        lines = (line.strip() for line in errors.splitlines())
        cause = next((line for line in lines if "fatal: " in line), "nothing")
        raise SourceError(f"cannot {to}: git ended with {code} and says {show(cause)}")


def _run(
    argv: tuple[str, ...],
    *,
    seconds: float,
    protocol: str,
    stdin: bytes = b"",
    settings: Mapping[str, str] | None = None,
    index: Path | None = None,
) -> tuple[int | None, bytes, bytes]:
    outside = {name: os.environ[name] for name in _FROM_OUTSIDE if name in os.environ}
    chosen = {} if index is None else {"GIT_INDEX_FILE": str(index)}
    try:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={
                **outside,
                **_ENVIRONMENT,
                **chosen,
                **_configure(settings or {}),
                "GIT_ALLOW_PROTOCOL": protocol,
            },
            umask=0o022,
            start_new_session=True,
        )
    except OSError as error:
        why = "not installed here" if isinstance(error, FileNotFoundError) else str(error.strerror)
        raise SourceError(f"git cannot be run: {why}; install it, and check PATH") from None
    try:
        stdout, stderr = process.communicate(stdin, timeout=seconds)
    except subprocess.TimeoutExpired:
        # The helpers that git started hold the pipes open, so the whole group goes.
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None, b"", b""
    return process.returncode, stdout, stderr


def _configure(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables that set git's configuration."""
    variables = {"GIT_CONFIG_COUNT": str(len(settings))} if settings else {}
    for number, (name, value) in enumerate(settings.items()):
        variables[f"GIT_CONFIG_KEY_{number}"] = name
        variables[f"GIT_CONFIG_VALUE_{number}"] = value
    return variables
