"""A sandbox in a scratch folder of this machine: at most, it isolates processes.

It is for the demo without Docker, for tests, and for a pod or job container that is a sandbox
itself. Commands run as the user of `reb`, with the network and the files of this machine. Memory,
processes and shared memory are not limited; the disk is watched. The mounts are symlinks, restored
before each command, and read-only if the machine allows namespaces.

`clear`, `halt`, `remove`, a deadline and `sweep` end every process that a command left. If the
machine allows it, each command has a PID namespace, which the kernel ends. Otherwise a supervisor
adopts the processes of a command, so that they can be found and ended. A command that kills this
supervisor may leave a hidden process, so then nothing more is run in the sandbox. Without a sweep
no process ends by itself.
"""

import subprocess
import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from reb_action.errors import SandboxError, UnendedError
from reb_action.model.limits import LimitHits
from reb_action.sandbox.capture import Capture
from reb_action.sandbox.cgroup import read_own_hits
from reb_action.sandbox.disk import DiskWatch
from reb_action.sandbox.layout import SandboxLayout
from reb_action.sandbox.local import isolation, neighbours
from reb_action.sandbox.local.command import Started, follow, launch, let_go
from reb_action.sandbox.local.files import measure_tree, put_link, read_file, remove_tree, unpack
from reb_action.sandbox.local.isolation import Isolation
from reb_action.sandbox.local.processes import end_all, format_marker, is_member
from reb_action.sandbox.owner import Trace, make_trace
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

# Marker files next to the sandbox folder: in the folder an agent could write them.
_HALTED = ".halted"
_UNENDED = ".unended"

_SUPERVISORS: dict[str, list[subprocess.Popen[bytes]]] = {}
"""Supervisors by session, kept until their last descendant has ended and they are waited for.

The phases of a trial in one process attach separately, each with its own sandbox object.
"""


class LocalSandbox:
    """Implements the Protocol in the folder `spec.scratch`, which no other sandbox uses."""

    def __init__(self, spec: SandboxSpec) -> None:
        self._spec = spec
        self._root = Path(spec.scratch).resolve()
        self._trace = make_trace(spec)
        self._supervisors = _SUPERVISORS.setdefault(spec.session, [])
        self._is_clear = False  # Whether no command has run since the last look.
        self._disk = DiskWatch(
            _find_existing(self._root),
            limit_mib=spec.limits.disk_mib,
            measure=lambda: measure_tree(self._root),
        )

    @property
    def spec(self) -> SandboxSpec:
        return self._spec

    @property
    def handle(self) -> str:
        return str(self._root)

    @property
    def layout(self) -> SandboxLayout:
        return SandboxLayout(root=str(self._root))

    @property
    def trusted_python(self) -> str:
        return sys.executable

    @property
    def separates_users(self) -> bool:
        return False

    def run(
        self,
        command: Command,
        *,
        stdout: Output | None = None,
        stderr: Output | None = None,
        until: Until | None = None,
    ) -> Ended:
        self._require_running()
        out = Capture(command.output_limit_bytes, pass_on=stdout)
        err = Capture(command.output_limit_bytes, pass_on=stderr)
        self._is_clear = False
        self.link_mounts()
        with self._disk.watch(until) if command.may_fill_disk else nullcontext(until) as ends:
            patience = Patience(command.timeout_seconds, until=ends)
            code = self._follow(command, out, err, patience)
        return Ended(
            exit_code=code,
            timed_out=code is None and patience.stopped is None,
            seconds=patience.spent_seconds,
            stdout=out.kept(),
            stderr=err.kept(),
            dropped_bytes=out.dropped_bytes + err.dropped_bytes,
            stopped=patience.stopped if code is None else None,
        )

    def _follow(
        self, command: Command, out: Capture, err: Capture, patience: Patience
    ) -> int | None:
        """Run a command and return its exit code; None when the deadline or a stop came first."""
        started = launch(
            command,
            marker=format_marker(self._trace),
            mode=isolation.find_isolation(),
            folder=str(_find_trial(Path(self._spec.mount).resolve())),
            writable=str(self._root),
        )
        code = None
        try:
            code = follow(started, out, err, patience=patience)
        except SandboxError as error:
            self._lose(str(error))
            raise
        finally:
            self._settle(started, in_order=code is not None)
        return code

    def put(self, folder: str, archive: bytes, *, user: User = User.AGENT) -> None:  # noqa: ARG002
        """Unpack an archive; both users are the one that runs `reb`."""
        unpack(self._root, Path(folder), archive)

    def protect(
        self,
        folder: str,
        archive: bytes,
        *,
        writable: frozenset[str] = frozenset(),  # noqa: ARG002
    ) -> None:
        """Unpack an archive; its files can be changed, since there is only one user."""
        self.put(folder, archive)

    def read(self, path: str, *, limit_bytes: int, whole: bool = True) -> bytes | FileFault:
        return read_file(self._root, path, limit_bytes=limit_bytes, whole=whole)

    def owns(self, pid: int) -> bool:
        return is_member(pid, self._is_own)

    def find_hits(self) -> LimitHits:
        """Return the counts of this process's own group: only the disk has a separate limit."""
        found = read_own_hits(str(self._root))
        return replace(found, disk_full=found.disk_full or self._disk.is_full)

    def clear(self) -> tuple[str, ...]:
        if self._is_clear:
            return ()
        return self._end_processes()

    def renew(self) -> tuple[str, ...]:
        """End every process; with its namespaces the kernel drops the memory of a command."""
        return self.clear()

    def halt(self) -> tuple[str, ...]:
        self._marker(_HALTED).touch()
        return self._end_processes()

    def resume(self, *, network: Network) -> None:  # noqa: ARG002
        """Let commands run again; the network of this machine is unchanged.

        A sweep may have forgotten a sandbox whose trial is resumed.
        """
        neighbours.enter(self._trace, is_isolated=isolation.find_isolation() is not Isolation.NONE)
        self._marker(_HALTED).unlink(missing_ok=True)

    def remove(self) -> None:
        self._end_processes()
        remove_tree(self._root)
        for ending in (_HALTED, _UNENDED):
            self._marker(ending).unlink(missing_ok=True)
        neighbours.leave(self._trace)

    def link_mounts(self) -> None:
        """Restore the symlinks of the mounts to their folders."""
        layout, spec = self.layout, self._spec
        for place, folder in (
            (layout.tools, spec.mount),
            (layout.cli, spec.agent_mount),
            (layout.gateway, spec.gateway_mount),
        ):
            if folder is not None:
                put_link(self._root, Path(place), Path(folder).resolve())

    def _settle(self, started: Started, *, in_order: bool) -> None:
        if not let_go(started):
            self._supervisors.append(started.supervisor)
        if not in_order:
            self._end_processes()

    def _require_running(self) -> None:
        if not self._root.is_dir() or self._marker(_HALTED).exists():
            message = f"The local sandbox in {self._root} was stopped or removed; start it again."
            raise SandboxError(message)
        if self._marker(_UNENDED).exists():
            raise UnendedError(self._marker(_UNENDED).read_text(encoding="utf-8"))

    def _end_processes(self) -> tuple[str, ...]:
        try:
            names = end_all(self._is_own)
        except UnendedError as error:
            self._give_up(str(error))
            raise
        while self._supervisors:
            self._supervisors.pop().wait(timeout=10)
        self._is_clear = True
        return names

    def _lose(self, why: str) -> None:
        """Refuse further commands if a process may have escaped from its supervisor."""
        if isolation.find_isolation() is Isolation.NONE:
            self._give_up(f"{why} Its processes may still run, so no other command is started.")

    def _give_up(self, why: str) -> None:
        if self._root.is_dir():
            self._marker(_UNENDED).write_text(why, encoding="utf-8")

    def _marker(self, ending: str) -> Path:
        return self._root.with_name(self._root.name + ending)

    def _is_own(self, trace: Trace) -> bool:
        return (trace.session, trace.mount) == (self._trace.session, self._trace.mount)


def _find_trial(mount: Path) -> Path:
    """Return the folder of a trial from that of its mount: its results lie beside its scratch."""
    work = mount.parent
    return work if work.parent == work.parent.parent else work.parent


def _find_existing(folder: Path) -> Path:
    return next(path for path in (folder, *folder.parents) if path.is_dir())
