"""Tells whose a sandbox is, so that the leftovers of a killed runner can be found and removed."""

import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from reb_action.sandbox.protocol import SandboxSpec

Alive = Callable[["Trace"], bool]
"""Says whether the session of a sandbox that was made on this machine still goes on."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Trace:
    """What a sandbox says about its maker; `expires` is in seconds since the epoch.

    The maker is a session, not a process: each phase of a trial is a process of its own.
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
    """Return the trace that a sandbox made here and now leaves."""
    return Trace(
        session=spec.session,
        trial=spec.trial,
        mount=spec.mount,
        host=platform.node(),
        boot=_boot(),
        expires=int(time.time()) + spec.limits.seconds,
    )


def is_leftover(trace: Trace, *, alive: Alive) -> bool:
    """Return whether a sandbox may be removed by others than its own session.

    It may when its lease is over; or when it was made on this machine and the machine has been
    started again since, or its session is over. Another machine's sandbox is left alone.
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
    """Give a sandbox its whole time again from now on, as a trial that is resumed needs it."""
    path = Path(spec.mount) / LEASE
    path.write_text(f"{int(time.time()) + spec.limits.seconds}\n", encoding="ascii")


def has_folder(trace: Trace) -> bool:
    """Take a session as alive while its folder is there: runners empty theirs between jobs."""
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
    """Read a trace from labels; None when they are not ours."""
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
