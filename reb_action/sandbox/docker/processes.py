"""The processes of a container, as its engine sees them from outside, and why it ended."""

import time
from collections.abc import Callable
from typing import Final

from reb_action.sandbox.docker.engine import Engine, Running, Task
from reb_action.sandbox.port_forward import FORWARDER
from reb_action.sandbox.wait import LOOK_SECONDS, Patience

OUT_OF_MEMORY: Final = "(out of memory)"
"""Listed as a leftover of a command: the container ended because its memory was used up."""

_ROOT_UID: Final = 0
_KEEPERS: Final = frozenset({"docker-init", "tini", "sh", "sleep", FORWARDER})
_LOOKS: Final = 4
_DEATH_SECONDS: Final = 1.0


def find_strangers(engine: Engine, container: str, tasks: tuple[Task, ...]) -> tuple[Task, ...]:
    """Return the processes without process 1 and those that keep the container.

    The latter have the user of process 1, which no process inside can become. An engine that maps
    users shows another number than 0 for it.
    """
    init = engine.inspect(container).init
    root = next((task.uid for task in tasks if task.pid == init), _ROOT_UID)
    return tuple(task for task in tasks if task.uid != root or task.name not in _KEEPERS)


def find_leftovers(engine: Engine, container: str) -> tuple[Task, ...] | None:
    """Return the processes without the keepers; None if the keepers are not listed: then unknown.

    A process that was just killed may still be listed, so the list is read up to four times.
    """
    strangers: tuple[Task, ...] | None = None
    for look in range(_LOOKS):
        time.sleep(0.05 if look else 0.0)
        tasks = engine.processes(container)
        strangers = find_strangers(engine, container, tasks) if tasks else None
        if strangers is not None and len(strangers) == len(tasks):
            strangers = None
        if strangers == ():
            break
    return strangers


def has_ended(engine: Engine, container: str) -> bool:
    """Return whether the container has ended, and not only the command in it.

    The engine may record the end of the container shortly after that of the command.
    """
    return _becomes(lambda: not engine.inspect(container).is_running)


def ran_out_of_memory(engine: Engine, container: str, *, expires: int) -> bool:
    """Return whether the kernel ended a container early because of its memory.

    The kernel kills one process after another until memory is free. It also kills process 1 if the
    rest of the memory belongs to no process (shared memory, pipes). `expires` is in seconds since
    the epoch. A container that was stopped from outside has not run out of memory.
    """
    if engine.inspect(container).is_running or time.time() >= expires:
        return False
    # The engine learns of the kill and of the end separately.
    return _becomes(lambda: engine.inspect(container).is_out_of_memory)


def follow(engine: Engine, running: Running, patience: Patience) -> int | None:
    """Read the output until the command has ended; None if the deadline or a stop came first.

    The end of the command is also checked while output continues, or while a child keeps it open.
    """
    code: int | None = None
    looked = time.monotonic()
    pause = 0.01
    while patience.left_seconds > 0:
        more = running.stream.step(min(patience.left_seconds, LOOK_SECONDS))
        if more:
            patience.hear()
        if code is None and (more is None or time.monotonic() - looked > LOOK_SECONDS):
            looked = time.monotonic()
            code = engine.exit_code(running.id)
        if code is not None:
            patience.end()
        if more is None and code is not None:
            break
        if more is None:
            # The command closed its output, or the engine has not noted its end yet.
            time.sleep(min(pause, max(0.0, patience.left_seconds)))
            pause = min(2 * pause, LOOK_SECONDS)
        patience.look()
    return code


def _becomes(condition: Callable[[], bool]) -> bool:
    give_up = time.monotonic() + _DEATH_SECONDS
    while not condition():
        if time.monotonic() > give_up:
            return False
        time.sleep(0.05)
    return True
