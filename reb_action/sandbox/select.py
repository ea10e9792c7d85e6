"""Starts, finds again and sweeps sandboxes of every kind."""

from typing import assert_never

from reb_action.sandbox.docker import lifecycle as docker
from reb_action.sandbox.local import lifecycle as local
from reb_action.sandbox.owner import Alive, has_folder, spare_none
from reb_action.sandbox.protocol import Kind, Sandbox, SandboxSpec


def start(spec: SandboxSpec) -> Sandbox:
    """Start a sandbox; one that is left of the same session is removed first."""
    match spec.kind:
        case Kind.DOCKER:
            return docker.start(spec)
        case Kind.LOCAL:
            return local.start(spec)
        case _:
            assert_never(spec.kind)


def attach(spec: SandboxSpec, handle: str) -> Sandbox:
    """Find the sandbox that another process started; SandboxError when it is gone."""
    match spec.kind:
        case Kind.DOCKER:
            return docker.attach(spec, handle)
        case Kind.LOCAL:
            return local.attach(spec, handle)
        case _:
            assert_never(spec.kind)


def sweep(kind: Kind, *, alive: Alive = has_folder, spares: Alive = spare_none) -> tuple[str, ...]:
    """Remove what killed sessions of this machine left, by `trace.is_leftover`.

    Returns the sessions whose sandboxes were removed. `reb stop --all` says that none is alive.
    Sandboxes that `spares` names are stopped, and can be attached to again.
    """
    match kind:
        case Kind.DOCKER:
            return docker.sweep(alive=alive, spares=spares)
        case Kind.LOCAL:
            return local.sweep(alive=alive, spares=spares)
        case _:
            assert_never(kind)
