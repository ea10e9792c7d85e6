"""Runs commands in throw-away containers that may write into one folder of this machine."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from docker.types import Mount

from reb_action.errors import SandboxError
from reb_action.sandbox.capture import Capture
from reb_action.sandbox.docker.connection import connect
from reb_action.sandbox.docker.engine import Engine, Exec
from reb_action.sandbox.docker.options import container_options
from reb_action.sandbox.docker.processes import follow
from reb_action.sandbox.layout import SandboxLayout
from reb_action.sandbox.owner import make_trace
from reb_action.sandbox.protocol import Command, Ended, SandboxSpec
from reb_action.sandbox.wait import Patience

_OUTPUT_BYTES: Final = 64 * 1024


def work(spec: SandboxSpec, folder: Path, commands: Iterable[Command]) -> Ended | None:
    """Run commands one after another, with `folder` at `layout.cli`; return the first failure.

    They run as the user of this process, who owns the folder, and without any capability.
    """
    if spec.image is None:
        raise SandboxError("No image is given to install the agent's program with; name one.")
    engine = connect()
    options = container_options(spec, make_trace(spec), image=spec.image)
    options["mounts"] = [Mount(SandboxLayout().cli, str(folder), type="bind")]
    container = engine.create(options)
    if container is None:
        raise SandboxError(f"Another container has the name {options['name']}; stop it.")
    try:
        engine.start(container.id)
        done = (_run(engine, container.id, command) for command in commands)
        return next((one for one in done if one.exit_code != 0), None)
    finally:
        engine.remove(container.id)


def _run(engine: Engine, container: str, command: Command) -> Ended:
    out, err = Capture(_OUTPUT_BYTES, pass_on=None), Capture(_OUTPUT_BYTES, pass_on=None)
    patience = Patience(command.timeout_seconds)
    wanted = Exec(
        argv=("/usr/bin/env", "-C", command.cwd, "--", *command.argv),
        env=command.env,
        user=f"{os.getuid()}:{os.getgid()}",
        stdin=b"",
    )
    running = engine.execute(container, wanted, out=out, err=err)
    with running.stream:
        code = follow(engine, running, patience)
    return Ended(
        exit_code=code,
        timed_out=code is None,
        seconds=patience.spent_seconds,
        stdout=out.kept(),
        stderr=err.kept(),
    )
