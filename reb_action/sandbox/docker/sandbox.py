"""A sandbox in a Docker container, reached through the engine of this machine."""

from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path

from reb_action.errors import SandboxError, UnendedError
from reb_action.model.limits import LimitHits
from reb_action.sandbox.capture import Capture
from reb_action.sandbox.disk import DiskWatch
from reb_action.sandbox.docker.command import ROOT_UID, build_exec
from reb_action.sandbox.docker.container import Container
from reb_action.sandbox.docker.engine import Engine, Exec
from reb_action.sandbox.docker.files import read_file, repack, repack_protected
from reb_action.sandbox.docker.hits import find_hits
from reb_action.sandbox.docker.processes import (
    OUT_OF_MEMORY,
    find_leftovers,
    find_strangers,
    follow,
    has_ended,
    ran_out_of_memory,
)
from reb_action.sandbox.layout import AGENT_UID, SandboxLayout
from reb_action.sandbox.owner import find_expiry, parse_labels
from reb_action.sandbox.protocol import (
    Command,
    Ended,
    FileFault,
    Network,
    Output,
    SandboxSpec,
    Until,
    User,
)
from reb_action.sandbox.wait import Patience

_KILLED = 137


class DockerSandbox:
    """Meets the Protocol with one container, in which commands run by exec."""

    def __init__(self, spec: SandboxSpec, engine: Engine, container: Container) -> None:
        self._spec = spec
        self._engine = engine
        self._container = container
        # The kernel's counts before a restart, which resets them.
        self._past_hits = LimitHits()
        self._data_folder = engine.find_data_folder()
        self._disk = DiskWatch(
            self._data_folder,
            limit_mib=spec.limits.disk_mib,
            measure=lambda: engine.find_used_bytes(container.id),
        )
        # Whether a command may have left a process since the last restart or look.
        self._is_clear = False

    @property
    def spec(self) -> SandboxSpec:
        return self._spec

    @property
    def handle(self) -> str:
        return self._container.id

    @property
    def layout(self) -> SandboxLayout:
        return SandboxLayout()

    @property
    def trusted_python(self) -> str:
        return "/usr/bin/python3"

    @property
    def separates_users(self) -> bool:
        return not self._spec.root

    def run(
        self,
        command: Command,
        *,
        stdout: Output | None = None,
        stderr: Output | None = None,
        until: Until | None = None,
    ) -> Ended:
        self._is_clear = False
        out = Capture(command.output_limit_bytes, pass_on=stdout)
        err = Capture(command.output_limit_bytes, pass_on=stderr)
        with self._disk.watch(until) if command.may_fill_disk else nullcontext(until) as ends:
            patience = Patience(command.timeout_seconds, until=ends)
            code, is_out_of_memory = self._follow(command, out, err, patience)
        if code is None:
            self._restart()
        return Ended(
            exit_code=code,
            timed_out=code is None and patience.stopped is None,
            seconds=patience.spent_seconds,
            stdout=out.kept(),
            stderr=err.kept(),
            dropped_bytes=out.dropped_bytes + err.dropped_bytes,
            stopped=patience.stopped if code is None else None,
            is_out_of_memory=is_out_of_memory,
        )

    def put(self, folder: str, archive: bytes, *, user: User = User.AGENT) -> None:
        self._engine.put(self.handle, repack(folder, archive, uid=self._uid(user)))

    def protect(
        self, folder: str, archive: bytes, *, writable: frozenset[str] = frozenset()
    ) -> None:
        self._engine.put(self.handle, repack_protected(folder, archive, writable=writable))

    def read(self, path: str, *, limit_bytes: int, whole: bool = True) -> bytes | FileFault:
        return read_file(self._engine, self.handle, path, limit_bytes=limit_bytes, whole=whole)

    def owns(self, pid: int) -> bool:
        try:
            return self.handle in Path(f"/proc/{pid}/cgroup").read_text(encoding="utf-8")
        except OSError:
            return False

    def find_hits(self) -> LimitHits:
        has_quota = self._spec.limits.disk_mib is not None
        disk = self._data_folder
        now = find_hits(self._engine, self._container, disk=disk, has_quota=has_quota)
        found = self._past_hits.plus(now)
        return replace(found, disk_full=found.disk_full or self._disk.is_full)

    def clear(self) -> tuple[str, ...]:
        """List the processes; restart the container if there are others than its keepers.

        Processes of a root agent look like those that keep the container: then always restart.
        """
        if self._is_clear:
            return ()
        if self._spec.root:
            is_out_of_memory = self._ran_out_of_memory()
            self._restart()
            return (OUT_OF_MEMORY,) if is_out_of_memory else ()
        left = find_leftovers(self._engine, self.handle)
        is_out_of_memory = left is None and self._ran_out_of_memory()
        if left is None or left:
            self._restart()
            self._require_clear()
        if is_out_of_memory:
            return (OUT_OF_MEMORY,)
        if left is None:
            message = f"The engine did not show what runs in the sandbox of {self._spec.trial}; "
            raise SandboxError(message + "run the level again.")
        self._is_clear = True
        return tuple(task.name for task in left)

    def renew(self) -> tuple[str, ...]:
        """Restart the container, unless no command has run since the last restart or look."""
        if self._is_clear:
            return ()
        left = self.clear()
        if not left:
            self._restart()
        return left

    def halt(self) -> tuple[str, ...]:
        found = find_strangers(self._engine, self.handle, self._engine.processes(self.handle))
        self._engine.kill(self.handle)
        self._is_clear = True
        return tuple(task.name for task in found if task.is_alive)

    def resume(self, *, network: Network) -> None:
        if network is not Network.OPEN:
            self._engine.cut_off(self.handle, self._engine.inspect(self.handle).networks)
        self._engine.start(self.handle)
        if network is not Network.OPEN:
            self._require_no_network()

    def remove(self) -> None:
        self._engine.remove(self.handle)

    def _uid(self, user: User) -> int:
        return AGENT_UID if user is User.AGENT and not self._spec.root else ROOT_UID

    def _exec(self, command: Command) -> Exec:
        return build_exec(command, uid=self._uid(command.user), container=self._container)

    def _follow(
        self, command: Command, out: Capture, err: Capture, patience: Patience
    ) -> tuple[int | None, bool]:
        """Return the exit code of a command, and whether its container ran out of memory."""
        try:
            running = self._engine.execute(self.handle, self._exec(command), out=out, err=err)
            with running.stream:
                code = follow(self._engine, running, patience)
        except SandboxError:
            # The engine forgets the commands of a container that has ended.
            if not self._ran_out_of_memory():
                raise
            code = _KILLED
        if code != _KILLED or not has_ended(self._engine, self.handle):
            return code, False
        self._recover()
        return code, True

    def _restart(self) -> None:
        with suppress(SandboxError):
            self._past_hits = self.find_hits()
        self._engine.kill(self.handle)
        self._engine.start(self.handle)
        self._is_clear = True

    def _require_clear(self) -> None:
        left = find_leftovers(self._engine, self.handle)
        if left is None or left:
            names = ", ".join(task.name for task in left or ())
            message = (
                f"Processes of the sandbox of {self._spec.trial} could not be ended ({names}); "
            )
            raise UnendedError(message + "check the engine's log, and run the trial again.")

    def _recover(self) -> None:
        """Start a container again that its commands used up the memory of; refuse any other end."""
        if not self._ran_out_of_memory():
            message = f"The sandbox of {self._spec.trial} ended while a command ran in it: its time"
            raise SandboxError(
                message + " limit was reached, or it was stopped; start the trial again."
            )
        self._restart()

    def _ran_out_of_memory(self) -> bool:
        trace = parse_labels(self._container.labels)
        expires = 0 if trace is None else find_expiry(trace)
        return ran_out_of_memory(self._engine, self.handle, expires=expires)

    def _require_no_network(self) -> None:
        networks = set(self._engine.inspect(self.handle).networks)
        if networks - {"none"}:
            message = f"The sandbox of {self._spec.trial} is still on the network "
            message += ", ".join(sorted(networks))
            raise SandboxError(message + "; remove it and check the engine's version.")
