"""Starts, finds again and sweeps sandboxes of every kind."""

from typing import Protocol, assert_never

from reb_action.sandbox.owner import Alive, has_folder, spare_none
from reb_action.sandbox.protocol import Kind, Sandbox, SandboxSpec


def start(spec: SandboxSpec) -> Sandbox:
    """Start a sandbox; one that is left of the same session is removed first."""
    return _module(spec.kind).start(spec)


def attach(spec: SandboxSpec, handle: str) -> Sandbox:
    """Find the sandbox that another process started; SandboxError if it no longer exists."""
    return _module(spec.kind).attach(spec, handle)


def sweep(kind: Kind, *, alive: Alive = has_folder, spares: Alive = spare_none) -> tuple[str, ...]:
    """Remove the sandboxes that killed sessions of this machine left (`owner.is_leftover`).

    Returns the sessions of the removed sandboxes. For `reb stop --all` no session is alive.
    Sandboxes that `spares` accepts are stopped, and can be attached to again.
    """
    return _module(kind).sweep(alive=alive, spares=spares)


class _Module(Protocol):
    """The module of a kind of sandbox."""

    def start(self, spec: SandboxSpec, /) -> Sandbox: ...

    def attach(self, spec: SandboxSpec, handle: str, /) -> Sandbox: ...

    def sweep(self, *, alive: Alive, spares: Alive) -> tuple[str, ...]: ...


def _module(kind: Kind) -> _Module:
    # Imported here: a local trial must not wait for Docker's SDK.
    match kind:
        case Kind.DOCKER:
            from reb_action.sandbox.docker import lifecycle  # noqa: PLC0415

            return lifecycle
        case Kind.LOCAL:
            from reb_action.sandbox.local import lifecycle  # noqa: PLC0415

            return lifecycle
        case _:
            assert_never(kind)
