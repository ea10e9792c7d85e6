"""The few calls to the Docker engine that sandboxes need, typed; each failure a SandboxError."""

import functools
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests
from docker.errors import APIError, DockerException

from reb_action.errors import SandboxError, SandboxLostError
from reb_action.sandbox.capture import Capture
from reb_action.sandbox.docker.container import Container, Listed, Task, parse_container, parse_task
from reb_action.sandbox.docker.faults import explain
from reb_action.sandbox.docker.network import CONFLICT, NOT_FOUND, Bridge, ignore_status
from reb_action.sandbox.docker.options import NETWORK, Options
from reb_action.sandbox.docker.stream import Demux, ExecStream, open_stream

TIMEOUT_SECONDS = 300
_LABEL = "reb.session"
# The engine's words for a name that two networks have.
_AMBIGUOUS = "is ambiguous"
# The engine's words for a storage driver without quotas.
_QUOTA = "storage-opt"
# Processes of a command that looks into a container: the shell and a program that it starts.
_LOOKS = 2
_START_TRIES = 20
_START_PAUSE_SECONDS = 0.1


@dataclass(frozen=True, kw_only=True, slots=True)
class Exec:
    """A command for the engine; `user` is uid:gid."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    user: str
    stdin: bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class Engine:
    """A connection to the engine of this machine, over its Unix socket.

    The SDK's stubs lack many types, so the SDK is Any here and only here: the methods of this class
    return typed values.
    """

    client: Any
    path: str

    def create(self, options: Options) -> Container | None:
        """Create a container; None when another has its name."""
        if options["network"] == NETWORK:
            self.ensure_network()
        with self._calling(f"create a container of {options['image']}"):
            try:
                created = self._create(options)
            except APIError as error:
                if error.status_code == CONFLICT:
                    return None
                raise
            return parse_container(created.attrs)

    def _create(self, options: Options) -> Any:  # noqa: ANN401 - the SDK has no type for it
        """Create a container, with a disk quota if the storage driver has quotas.

        Otherwise the disk is watched.
        """
        try:
            return self.client.containers.create(**options)
        except APIError as error:
            if options["storage_opt"] is None or _QUOTA not in str(error.explanation):
                raise
        return self.client.containers.create(**{**options, "storage_opt": None})

    def find_data_folder(self) -> Path | None:
        """Return where the engine keeps the disks of containers, if this process sees it."""
        with self._calling("report its data folder"):
            folder = _ask_data_folder(self.client)
        return folder if folder.is_absolute() and folder.is_dir() else None

    def is_out_of_processes(self, container: str) -> bool:
        """Return whether a container has no place left for a command that starts another."""
        with self._calling("count the processes of the sandbox"):
            seen = self.client.api.stats(container, stream=False).get("pids_stats", {})
        current, limit = seen.get("current"), seen.get("limit")
        return bool(current and limit and current + _LOOKS > limit)

    def find_used_bytes(self, container: str) -> int | None:
        """Return the bytes that a container has written to its disk; None for unknown."""
        try:
            found = self.client.api.containers(all=True, size=True, filters={"id": container})
        except (DockerException, requests.RequestException, OSError):
            return None
        return next((item.get("SizeRw", 0) for item in found), None)

    def image_id(self, image: str) -> str:
        """Return the hash that names an image of this machine; SandboxError when it has none."""
        with self._calling(f"find the image {image}"):
            return self.client.api.inspect_image(image)["Id"]

    def inspect(self, container: str) -> Container:
        """Return a container by id or name; raises SandboxLostError if there is none."""
        with self._calling("find the sandbox"):
            try:
                return parse_container(self.client.api.inspect_container(container))
            except APIError as error:
                if error.status_code != NOT_FOUND:
                    raise
                reason = explain(error, action="find the sandbox", where=self.path)
                raise SandboxLostError(reason) from error

    def start(self, container: str) -> None:
        """Start a container; wait while another trial makes a second network of our name."""
        for _ in range(_START_TRIES):
            with self._calling("start the sandbox"):
                try:
                    return self.client.api.start(container)
                except APIError as error:
                    if _AMBIGUOUS not in str(error.explanation):
                        raise
            self.ensure_network()
            time.sleep(_START_PAUSE_SECONDS)
        message = f"Docker has more than one network {NETWORK}, all in use; end their containers, "
        raise SandboxError(message + f"then remove them: docker network ls -f name={NETWORK}.")

    def kill(self, container: str) -> None:
        """End all processes of a container; returns when they are gone."""
        with self._calling("end the processes of the sandbox"), ignore_status(CONFLICT):
            self.client.api.kill(container, "SIGKILL")

    def remove(self, container: str) -> None:
        """Remove a container with its volumes, unless it is already removed."""
        with self._calling("remove the sandbox"), ignore_status(NOT_FOUND, CONFLICT):
            self.client.api.remove_container(container, force=True, v=True)

    def processes(self, container: str) -> tuple[Task, ...]:
        """Return every process of a container; none when it does not run."""
        with self._calling("list the processes of the sandbox"), ignore_status(CONFLICT):
            top = self.client.api.top(container, ps_args="-eo pid,uid,nlwp,stat,comm")
            return tuple(parse_task(row) for row in top["Processes"])
        return ()

    def ours(self) -> tuple[Listed, ...]:
        """Return all containers that carry our label, also those that do not run."""
        with self._calling("list the sandboxes"):
            found = self.client.api.containers(all=True, filters={"label": _LABEL})
            return tuple(Listed(id=item["Id"], labels=item["Labels"]) for item in found)

    def ensure_network(self) -> None:
        """Make the bridge of the open sandboxes if there is none."""
        with self._calling(f"create the network {NETWORK}"):
            Bridge(api=self.client.api).ensure()

    def cut_off(self, container: str, networks: Mapping[str, str]) -> None:
        """Disconnect a stopped container from these networks, and from any network in future.

        With the network `none`, a start does not reconnect it to its first network. `networks` has
        the id of each network by its name.
        """
        with self._calling("disconnect the sandbox from the network"):
            for name, network in networks.items():
                if name != "none":
                    self.client.api.disconnect_container_from_network(
                        container, network, force=True
                    )
            if "none" not in networks:
                self.client.api.connect_container_to_network(container, "none")

    def execute(self, container: str, command: Exec, *, out: Capture, err: Capture) -> "Running":
        """Start a command in a container."""
        with self._calling("run a command in the sandbox"):
            created = self.client.api.exec_create(
                container,
                list(command.argv),
                stdin=bool(command.stdin),
                user=command.user,
                environment=dict(command.env),
            )
            stream = open_stream(
                self.path,
                created["Id"],
                version=self.client.api.api_version,
                stdin=command.stdin,
                demux=Demux(out, err),
                timeout_seconds=TIMEOUT_SECONDS,
            )
            return Running(id=created["Id"], stream=stream)

    def exit_code(self, exec_id: str) -> int | None:
        """Return how a command ended; None while it runs."""
        with self._calling("get the exit code of a command"):
            found = self.client.api.exec_inspect(exec_id)
            return None if found["Running"] else found["ExitCode"]

    def put(self, container: str, archive: bytes) -> None:
        """Unpack an archive at the root of a container."""
        with self._calling("put files into the sandbox"):
            self.client.api.put_archive(container, "/", archive)

    @contextmanager
    def archive(self, method: str, container: str, path: str) -> Generator[requests.Response]:
        """Request the archive of a path, or with HEAD only the kind of the path.

        The SDK's call cannot be closed before its end and does not support HEAD.
        """
        api = self.client.api
        url = f"{api.base_url}/v{api.api_version}/containers/{container}/archive"
        with (
            self._calling("read a file of the sandbox"),
            api.request(
                method,
                url,
                params={"path": path},
                headers={"Accept-Encoding": "identity"},
                stream=True,
                timeout=TIMEOUT_SECONDS,
            ) as response,
        ):
            yield response

    @contextmanager
    def _calling(self, action: str) -> Generator[None]:
        try:
            yield
        except (DockerException, requests.RequestException, OSError) as error:
            raise SandboxError(explain(error, action=action, where=self.path)) from error


@functools.cache
def _ask_data_folder(client: Any) -> Path:  # noqa: ANN401 - the SDK has no type for it
    return Path(str(client.info().get("DockerRootDir", "")))


@dataclass(frozen=True, kw_only=True, slots=True)
class Running:
    """A command under way."""

    id: str
    stream: ExecStream
