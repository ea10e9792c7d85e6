"""Connects to the Docker engine of this machine."""

import functools
import os
import socket

import requests
from docker import DockerClient
from docker.errors import DockerException

from reb_action.errors import SandboxError
from reb_action.sandbox.docker.engine import TIMEOUT_SECONDS, Engine
from reb_action.sandbox.docker.faults import explain


@functools.cache
def connect() -> Engine:
    """Connect to the engine that DOCKER_HOST names, once for each process.

    It must be on this machine: it mounts a folder of the harness, and NVML sees local GPUs only.
    """
    host = os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock"
    if not host.startswith("unix://"):
        message = f"DOCKER_HOST is {host}; set it to the Unix socket of an engine of this machine."
        raise SandboxError(message)
    path = host.removeprefix("unix://")
    try:
        _knock(path)
        client = DockerClient(base_url=host, timeout=TIMEOUT_SECONDS)
    except (DockerException, requests.RequestException, OSError) as error:
        raise SandboxError(explain(error, action="be reached", where=path)) from error
    return Engine(client=client, path=path)


def _knock(path: str) -> None:
    """Fail cleanly if no engine listens: the SDK would leave its socket open."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(TIMEOUT_SECONDS)
        connection.connect(path)
