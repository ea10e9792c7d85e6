"""Starts a local sandbox, finds it again, and ends the processes of those that are left over."""

import sys
from pathlib import Path

from reb_action.errors import SandboxError, SandboxLostError
from reb_action.sandbox.local import isolation, neighbours
from reb_action.sandbox.local.isolation import Isolation
from reb_action.sandbox.local.processes import end_all, find_traces
from reb_action.sandbox.local.sandbox import LocalSandbox
from reb_action.sandbox.owner import Alive, is_leftover, make_trace, spare_none
from reb_action.sandbox.protocol import SandboxSpec


def start(spec: SandboxSpec) -> LocalSandbox:
    """Make the folders of a local sandbox; one of the same session that is left is removed."""
    if not sys.platform.startswith("linux"):
        message = f"A local sandbox needs Linux, and this is {sys.platform}; use docker instead."
        raise SandboxError(message)
    sandbox = LocalSandbox(spec)
    sandbox.remove()
    neighbours.enter(make_trace(spec), is_isolated=isolation.find_isolation() is not Isolation.NONE)
    layout = sandbox.layout
    for folder in (layout.workspace, layout.home, layout.agent, spec.mount):
        Path(folder).mkdir(parents=True, exist_ok=True)
    sandbox.link_mounts()
    return sandbox


def attach(spec: SandboxSpec, handle: str) -> LocalSandbox:
    """Find a local sandbox that another process started."""
    sandbox = LocalSandbox(spec)
    if handle != sandbox.handle or not Path(handle).is_dir():
        message = f"There is no local sandbox in {handle}; start the trial again."
        raise SandboxLostError(message)
    return sandbox


def sweep(*, alive: Alive, spares: Alive = spare_none) -> tuple[str, ...]:
    """End the processes of local sandboxes that are left over; return their sessions.

    Their folders stay until scratch is removed. Traces that `spares` keeps are not returned.
    """
    neighbours.forget(alive=alive)
    gone = {trace for trace in find_traces() if is_leftover(trace, alive=alive)}
    end_all(gone.__contains__)
    return tuple(sorted({trace.session for trace in gone if not spares(trace)}))
