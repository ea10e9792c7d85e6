"""What every sandbox can do, and the values that it takes and gives."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from reb_action.model.limits import LimitHits, Limits
from reb_action.sandbox.layout import SandboxLayout

Output = Callable[[bytes], None]
"""Receives output as it comes; must not raise."""

Until = Callable[[], str | None]
"""Called about once a second; a text ends the command with that reason. Must not raise or block."""


class User(StrEnum):
    """As whom a command runs inside the sandbox."""

    AGENT = "agent"
    ROOT = "root"


class Kind(StrEnum):
    """The sandboxes there are."""

    DOCKER = "docker"
    LOCAL = "local"


class Network(StrEnum):
    """The network access of a sandbox; `allowed`: hosts by name, through a proxy of the harness."""

    OPEN = "open"
    ALLOWED = "allowed"
    NONE = "none"


@dataclass(frozen=True, kw_only=True, slots=True)
class SandboxSpec:
    """The definition of a sandbox; `mount` is the host side of `layout.tools`.

    `agent_mount` and `gateway_mount` are those of `layout.cli` and `layout.gateway`: existing
    folders. With `root`, commands of the agent's user run as root of the container.
    `gpu_ids` are the UUIDs of its GPUs; without them it gets the first ones of the machine.
    """

    kind: Kind
    session: str
    trial: str
    image: str | None
    mount: str
    scratch: str
    gpus: int = 0
    network: Network = Network.OPEN
    limits: Limits = field(default_factory=Limits)
    agent_mount: str | None = None
    gateway_mount: str | None = None
    root: bool = False
    gpu_ids: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Command:
    """One command inside the sandbox: argv, never a shell; `env` is complete, nothing is inherited.

    `secret_env` is added for this one command and printed by name only. One that `may_fill_disk`
    is ended, with `stopped`, when the disk of its sandbox is full.
    """

    argv: tuple[str, ...]
    cwd: str
    timeout_seconds: float
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    secret_env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    user: User = User.AGENT
    stdin: bytes = b""
    output_limit_bytes: int = 8 * 1024 * 1024
    may_fill_disk: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Ended:
    """How a command ended; `exit_code` is None if the harness ended it: timed out, or `stopped`.

    `is_out_of_memory`: the memory of the sandbox was used up, and all its processes ended.
    """

    exit_code: int | None
    timed_out: bool
    seconds: float
    stdout: bytes
    stderr: bytes
    dropped_bytes: int = 0
    stopped: str | None = None
    is_out_of_memory: bool = False


class FileFault(StrEnum):
    """Why a file of the sandbox was not read."""

    MISSING = "missing"
    NOT_A_FILE = "not_a_file"
    TOO_LARGE = "too_large"


class Sandbox(Protocol):
    """A place with a beginning and an end; a fault of the engine raises SandboxError."""

    @property
    def spec(self) -> SandboxSpec:
        """Return what this sandbox was asked to be."""
        ...

    @property
    def handle(self) -> str:
        """Return what finds this sandbox again from another process: container id or folder."""
        ...

    @property
    def layout(self) -> SandboxLayout:
        """Return where things are inside."""
        ...

    @property
    def trusted_python(self) -> str:
        """Return an interpreter that the agent cannot have changed."""
        ...

    @property
    def separates_users(self) -> bool:
        """Return whether files of root are safe from commands of the agent's user."""
        ...

    def run(
        self,
        command: Command,
        *,
        stdout: Output | None = None,
        stderr: Output | None = None,
        until: Until | None = None,
    ) -> Ended:
        """Run a command to its end or its deadline, or until `until` returns a reason to stop it.

        At the deadline, and at a stop, all processes inside are ended.

        Output goes to the callbacks at once. The result has at most `output_limit_bytes` of each
        stream: head and tail are kept, the middle is dropped.
        """
        ...

    def put(self, folder: str, archive: bytes, *, user: User = User.AGENT) -> None:
        """Unpack a tar archive of the harness into `folder`, owned by `user`, replacing files."""
        ...

    def protect(
        self, folder: str, archive: bytes, *, writable: frozenset[str] = frozenset()
    ) -> None:
        """Unpack like `put`, but so that the agent's user cannot change or remove the result.

        It can add to the folders, and change the `writable` files (their paths in the archive).
        Where `separates_users` is false, this is `put`.
        """
        ...

    def read(self, path: str, *, limit_bytes: int, whole: bool = True) -> bytes | FileFault:
        """Read a regular file; never follows a symlink, never blocks on a special file.

        A file above the limit is a fault; if not `whole`, it is cut instead.
        """
        ...

    def owns(self, pid: int) -> bool:
        """Return whether a process of this machine, by its number here, belongs to the sandbox."""
        ...

    def find_hits(self) -> LimitHits:
        """Return which limits were hit since the sandbox was started, or attached to.

        Compare two answers of one object with `LimitHits.since`.
        """
        ...

    def clear(self) -> tuple[str, ...]:
        """End every process that earlier commands left, and return their names.

        The processes are listed from outside, where no process inside can interfere. Raises
        UnendedError if one cannot be ended: then no more commands can run in this sandbox.
        """
        ...

    def renew(self) -> tuple[str, ...]:
        """Do as `clear`, and drop shared memory and message queues, which outlive processes."""
        ...

    def halt(self) -> tuple[str, ...]:
        """End every process inside and return the names of those that were still there."""
        ...

    def resume(self, *, network: Network) -> None:
        """Let commands run again after `halt`, with the read-only mount in place."""
        ...

    def remove(self) -> None:
        """End and remove everything of this sandbox; calling it again does nothing."""
        ...
