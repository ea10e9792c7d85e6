"""What runs in a container, as its engine sees it from outside, and why a container ended."""

import time
from collections.abc import Callable
from typing import Final

from reb_action.sandbox.docker.engine import Engine, Running, Task
from reb_action.sandbox.port import FORWARDER
from reb_action.sandbox.wait import LOOK_SECONDS, Patience

OUT_OF_MEMORY: Final = "(out of memory)"
"""Among what a command left: the container ended because the memory of all was used up."""

_ROOT_UID: Final = 0
_KEEPERS: Final = frozenset({"docker-init", "tini", "sh", "sleep", FORWARDER})
_LOOKS: Final = 4
_DEATH_SECONDS: Final = 1.0


def find_strangers(engine: Engine, container: str, tasks: tuple[Task, ...]) -> tuple[Task, ...]:
    """Leave out process 1 and what it keeps: of its user, which no process inside can become.

    An engine that maps users shows another number than 0 for it.
    """
    init = engine.inspect(container).init
    root = next((task.uid for task in tasks if task.pid == init), _ROOT_UID)
    return tuple(task for task in tasks if task.uid != root or task.name not in _KEEPERS)


def find_leftovers(engine: Engine, container: str) -> tuple[Task, ...] | None:
    """Return what runs beside the keepers; None where they are not seen, so that it is unknown.

    What has been killed a moment ago may still be listed: look again before restarting.
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
    """Tell a command that was killed from one that died with its container.

    The engine notes the end of the container up to a moment after that of the command.
    """
    return _becomes(lambda: not engine.inspect(container).is_running)


def ran_out_of_memory(engine: Engine, container: str, *, expires: int) -> bool:
    """Return whether the kernel ended a container before its time, for the memory that it used.

    The kernel ends one process after another until memory is free, and process 1 too where only
    memory that belongs to no process is left (shared memory, pipes). `expires` is in seconds since
    the epoch. A container that was stopped from outside has not run out of memory.
    """
    if engine.inspect(container).is_running or time.time() >= expires:
        return False
    # The engine hears of the memory and of the end separately.
    return _becomes(lambda: engine.inspect(container).is_out_of_memory)


def follow(engine: Engine, running: Running, patience: Patience) -> int | None:
    """Take the output until the command has ended; None when the deadline or a stop came first.

    Whether it has ended is asked also while its output goes on, or its child keeps that open.
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
