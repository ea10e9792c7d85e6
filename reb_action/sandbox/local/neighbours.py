"""Registers the local sandboxes of this machine, even if none of their processes runs."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from reb_action.errors import SandboxError, UsageError
from reb_action.sandbox.local.processes import format_marker, parse_marker
from reb_action.sandbox.owner import Alive, Trace, has_folder, is_leftover


def enter(trace: Trace, *, is_isolated: bool) -> None:
    """Register a sandbox; UsageError if the machine cannot isolate it from another one.

    The entry is written before the check, so two sandboxes that start at once see each other.
    """
    _place(trace).write_text(format_marker(trace), encoding="utf-8")
    if is_isolated:
        return
    for other in _others(trace):
        if not is_leftover(other, alive=has_folder):
            leave(trace)
            raise UsageError(
                f"the local trial {other.trial} is still running, and this machine has no PID "
                "namespaces to isolate two; run one at a time, or use --sandbox docker"
            )


def leave(trace: Trace) -> None:
    """Remove the entry of a sandbox."""
    _place(trace).unlink(missing_ok=True)


def forget(*, alive: Alive) -> None:
    """Remove the entries of leftover sandboxes; keep the entries of other versions of reb."""
    for path, trace in _entries():
        if trace is not None and is_leftover(trace, alive=alive):
            with suppress(FileNotFoundError):
                path.unlink()


def _others(trace: Trace) -> Iterator[Trace]:
    for _, other in _entries():
        if other is not None and (other.session, other.mount) != (trace.session, trace.mount):
            yield other


def _entries() -> Iterator[tuple[Path, Trace | None]]:
    for path in sorted(_folder().iterdir()):
        with suppress(OSError, UnicodeDecodeError):
            yield path, parse_marker(path.read_text(encoding="utf-8"))


def _place(trace: Trace) -> Path:
    return _folder() / trace.session


def _folder() -> Path:
    """Return the folder of this user, which no other user may write."""
    folder = Path(tempfile.gettempdir()) / f"reb-local-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.getuid():
        message = f"{folder} belongs to another user; remove it."
        raise SandboxError(message)
    return folder
