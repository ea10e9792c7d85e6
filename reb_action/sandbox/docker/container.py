"""Containers and their processes, as the Docker engine describes them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Container:
    """The used facts of a container; `env_names` are the variables that each exec inherits.

    `networks` has the id of each network by its name. `is_out_of_memory`: since its start, the
    kernel has killed one of its processes for memory.
    """

    id: str
    labels: Mapping[str, str]
    env_names: frozenset[str]
    networks: Mapping[str, str]
    is_running: bool
    is_out_of_memory: bool
    init: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """A process of a container as the engine sees it, with the engine's numbers and user ids.

    If only its main thread has ended, it shows as a zombie with more than one thread.
    """

    pid: int
    uid: int
    name: str
    is_alive: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Listed:
    """A container in a list of containers."""

    id: str
    labels: Mapping[str, str]


def parse_task(row: list[str]) -> Task:
    """Read a row of `ps -eo pid,uid,nlwp,stat,comm`."""
    pid, uid, threads, state, name = row
    return Task(
        pid=int(pid),
        uid=int(uid),
        name=name.removesuffix(" <defunct>"),
        is_alive=state[:1] not in ("Z", "X") or int(threads) > 1,
    )


def parse_container(attrs: Any) -> Container:  # noqa: ANN401 - the SDK has no type for it
    """Read the document that the engine returns for a container."""
    return Container(
        id=attrs["Id"],
        labels=attrs["Config"]["Labels"],
        env_names=frozenset(item.partition("=")[0] for item in attrs["Config"]["Env"] or ()),
        networks={
            name: network["NetworkID"]
            for name, network in attrs["NetworkSettings"]["Networks"].items()
        },
        is_running=attrs["State"]["Running"],
        is_out_of_memory=attrs["State"].get("OOMKilled", False),
        init=attrs["State"]["Pid"],
    )
