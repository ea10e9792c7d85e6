"""Starts the container of a sandbox, finds it again, and removes containers that are left over."""

from pathlib import Path

from reb_action.errors import SandboxError
from reb_action.sandbox.docker.connection import connect
from reb_action.sandbox.docker.container import Container
from reb_action.sandbox.docker.engine import Engine
from reb_action.sandbox.docker.options import container_name, container_options
from reb_action.sandbox.docker.sandbox import DockerSandbox
from reb_action.sandbox.interrupt import finish
from reb_action.sandbox.owner import (
    Alive,
    is_leftover,
    make_trace,
    parse_labels,
    renew_lease,
    spare_none,
)
from reb_action.sandbox.protocol import SandboxSpec

_CREATE_SECONDS = 30.0
"""How long an interrupt waits for the engine. A runner kills after ten seconds."""


def start(spec: SandboxSpec) -> DockerSandbox:
    """Create and start a container; one of the same session that is left is removed first."""
    if spec.image is None:
        message = f"No image is given for {spec.trial}; name one with --image."
        raise SandboxError(message)
    engine = connect()
    Path(spec.mount).mkdir(parents=True, exist_ok=True)
    options = container_options(spec, make_trace(spec), image=spec.image)

    def create() -> Container | None:
        # The engine would create it all the same, after the sweep has listed what is left.
        return finish(lambda: engine.create(options), seconds=_CREATE_SECONDS)

    container = create()
    if container is None:
        _remove_leftover(engine, spec)
        container = create()
    if container is None:
        message = f"Another container takes the name {options['name']} repeatedly; stop it."
        raise SandboxError(message)
    try:
        engine.start(container.id)
    except SandboxError:
        engine.remove(container.id)
        raise
    return DockerSandbox(spec, engine, container)


def attach(spec: SandboxSpec, handle: str) -> DockerSandbox:
    """Find the container that another process started for this session.

    One that does not run, because its lease is over or it was swept, is started again.
    """
    engine = connect()
    container = engine.inspect(handle)
    _require_own(container, spec)
    if not container.is_running:
        renew_lease(spec)
        engine.start(container.id)
    return DockerSandbox(spec, engine, container)


def sweep(*, alive: Alive, spares: Alive = spare_none) -> tuple[str, ...]:
    """Remove the containers that are left over; return their sessions.

    One that `spares` names is stopped and keeps its disk. The network stays: it belongs to no
    session, and costs nothing.
    """
    engine = connect()
    gone: list[str] = []
    for container in engine.ours():
        trace = parse_labels(container.labels)
        if trace is None or not is_leftover(trace, alive=alive):
            continue
        if spares(trace):
            engine.kill(container.id)
        else:
            engine.remove(container.id)
            gone.append(trace.session)
    return tuple(sorted(gone))


def _remove_leftover(engine: Engine, spec: SandboxSpec) -> None:
    container = engine.inspect(container_name(spec.session))
    _require_own(container, spec)
    engine.remove(container.id)


def _require_own(container: Container, spec: SandboxSpec) -> None:
    if container.labels.get("reb.session") != spec.session:
        message = f"Container {container.id[:12]} is not the sandbox of session {spec.session}; "
        raise SandboxError(message + "remove it, or check the folder of this session.")
