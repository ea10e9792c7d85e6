"""Commands of a container as the engine runs them, and the one that counts hits of its limits."""

from dataclasses import replace
from typing import Final

from reb_action.model.limits import LimitHits
from reb_action.sandbox.capture import Capture
from reb_action.sandbox.cgroup import LOOK, parse_hits
from reb_action.sandbox.docker.container import Container
from reb_action.sandbox.docker.engine import Engine, Exec
from reb_action.sandbox.docker.processes import follow
from reb_action.sandbox.protocol import Command, User
from reb_action.sandbox.wait import Patience

ROOT_UID: Final = 0

_HITS_SECONDS: Final = 20
_HITS_BYTES: Final = 64 * 1024

_ADDED_NAMES: Final = frozenset({"HOME", "HOSTNAME", "PATH", "TERM"})
"""Variables that the engine and the runtime add to each exec."""


def build_exec(command: Command, *, uid: int, container: Container) -> Exec:
    """Return a command for the engine, with exactly the command's own environment.

    `env -u` removes the variables that the image and the engine would add. The values are in the
    exec only: every process of the container can read argv.
    """
    env = {**command.env, **command.secret_env}
    unwanted = sorted((container.env_names | _ADDED_NAMES) - env.keys())
    blank = [argument for name in unwanted for argument in ("-u", name)]
    return Exec(
        argv=("/usr/bin/env", "-C", command.cwd, *blank, "--", *command.argv),
        env=env,
        user=f"{uid}:{uid}",
        stdin=command.stdin,
    )


def count_hits(engine: Engine, container: Container, folder: str) -> LimitHits:
    """Return how often the kernel enforced a limit of a container since its start.

    `folder` is on the disk of the container whose free space is measured.
    """
    argv = ("/bin/sh", "-c", LOOK, "sh", folder)
    command = Command(argv=argv, cwd="/", timeout_seconds=_HITS_SECONDS, user=User.ROOT)
    lines = Capture(_HITS_BYTES, pass_on=None)
    nothing = Capture(_HITS_BYTES, pass_on=None)
    order = build_exec(command, uid=ROOT_UID, container=container)
    running = engine.execute(container.id, order, out=lines, err=nothing)
    with running.stream:
        code = follow(engine, running, Patience(command.timeout_seconds))
    hits = parse_hits(lines.kept().decode("utf-8", "replace"))
    if code != 0 and engine.is_out_of_processes(container.id):
        # Then the script could not start its programs either.
        return replace(hits, processes_refused=max(hits.processes_refused, 1))
    return hits
