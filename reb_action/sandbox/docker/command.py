"""Commands of a container as the engine runs them."""

from typing import Final

from reb_action.sandbox.docker.container import Container
from reb_action.sandbox.docker.engine import Exec
from reb_action.sandbox.protocol import Command

ROOT_UID: Final = 0

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
