"""The owner of a sandbox, so that leftovers of a killed runner can be found and removed."""

import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from reb_action.sandbox.protocol import SandboxSpec

Alive = Callable[["Trace"], bool]
"""Returns whether the session of a sandbox of this machine is still running."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Trace:
    """The owner of a sandbox, as recorded on it; `expires` is in seconds since the epoch.

    The owner is a session, not a process: each phase of a trial is a separate process.
    """

    session: str
    trial: str
    mount: str
    host: str
    boot: str
    expires: int


LEASE: Final = "lease"
"""A file in the mount of a sandbox: a later end, in seconds since the epoch, than at its start."""

_LEASE_BYTES: Final = 32


def make_trace(spec: SandboxSpec) -> Trace:
    """Return the trace of a sandbox that is created now on this machine."""
    return Trace(
        session=spec.session,
        trial=spec.trial,
        mount=spec.mount,
        host=platform.node(),
        boot=_boot(),
        expires=int(time.time()) + spec.limits.seconds,
    )


def is_leftover(trace: Trace, *, alive: Alive) -> bool:
    """Return whether another session may remove a sandbox.

    It may if the lease is over. It also may if the sandbox is of this machine, and the machine was
    restarted since or the session is over. Sandboxes of other machines are kept.
    """
    if time.time() >= find_expiry(trace):
        return True
    if trace.host != platform.node():
        return False
    return trace.boot != _boot() or not alive(trace)


def spare_none(_trace: Trace) -> bool:
    """Spare no sandbox that is left over."""
    return False


def find_expiry(trace: Trace) -> int:
    """Return when the lease of a sandbox ends, in seconds since the epoch."""
    try:
        text = (Path(trace.mount) / LEASE).read_text(encoding="ascii")[:_LEASE_BYTES].strip()
    except (OSError, UnicodeDecodeError):
        return trace.expires
    return max(trace.expires, int(text)) if text.isdigit() else trace.expires


def renew_lease(spec: SandboxSpec) -> None:
    """Give the sandbox of a resumed trial its full time again, from now on."""
    path = Path(spec.mount) / LEASE
    path.write_text(f"{int(time.time()) + spec.limits.seconds}\n", encoding="ascii")


def has_folder(trace: Trace) -> bool:
    """Treat a session as alive while its folder exists: runners empty their folder between jobs."""
    return Path(trace.mount).is_dir()


def format_labels(trace: Trace) -> dict[str, str]:
    """Write a trace as labels."""
    return {
        "reb.session": trace.session,
        "reb.trial": trace.trial,
        "reb.mount": trace.mount,
        "reb.host": trace.host,
        "reb.boot": trace.boot,
        "reb.expires": str(trace.expires),
    }


def parse_labels(labels: Mapping[str, str]) -> Trace | None:
    """Read a trace from labels; None if they are not labels of reb."""
    try:
        return Trace(
            session=labels["reb.session"],
            trial=labels["reb.trial"],
            mount=labels["reb.mount"],
            host=labels["reb.host"],
            boot=labels["reb.boot"],
            expires=int(labels["reb.expires"]),
        )
    except (KeyError, ValueError):
        return None


def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
