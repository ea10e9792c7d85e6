"""A sandbox in a Docker container, reached through the engine of this machine."""

import time
from pathlib import Path

from reb_action.errors import SandboxError, UnendedError
from reb_action.sandbox.capture import Capture
from reb_action.sandbox.docker.engine import Container, Engine, Exec, Running, Task, connect
from reb_action.sandbox.docker.files import read_file, repack, repack_protected
from reb_action.sandbox.docker.options import container_name, container_options
from reb_action.sandbox.layout import AGENT_UID, SandboxLayout
from reb_action.sandbox.owner import Alive, is_leftover, make_trace, parse_labels
from reb_action.sandbox.port import FORWARDER
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
from reb_action.sandbox.wait import LOOK_SECONDS, Patience

_ROOT_UID = 0
_UIDS = {User.AGENT: AGENT_UID, User.ROOT: _ROOT_UID}
_KEEPERS = frozenset({"docker-init", "tini", "sh", "sleep", FORWARDER})
_KILLED = 137
_DEATH_SECONDS = 1.0
_LOOKS = 4

# The engine and the runtime add these to each exec, beside what the image sets.
_ADDED_NAMES = frozenset({"HOME", "HOSTNAME", "PATH", "TERM"})


class DockerSandbox:
    """Meets the Protocol with one container, in which commands run by exec."""

    def __init__(self, spec: SandboxSpec, engine: Engine, container: Container) -> None:
        self._spec = spec
        self._engine = engine
        self._container = container
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
        return True

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
        patience = Patience(command.timeout_seconds, until=until)
        running = self._engine.execute(self.handle, self._exec(command), out=out, err=err)
        with running.stream:
            code = follow(self._engine, running, patience)
        if code is None:
            self._restart()
        elif code == _KILLED:
            self._require_running()
        return Ended(
            exit_code=code,
            timed_out=code is None and patience.stopped is None,
            seconds=patience.spent_seconds,
            stdout=out.kept(),
            stderr=err.kept(),
            dropped_bytes=out.dropped_bytes + err.dropped_bytes,
            stopped=patience.stopped if code is None else None,
        )

    def put(self, folder: str, archive: bytes, *, user: User = User.AGENT) -> None:
        self._engine.put(self.handle, repack(folder, archive, uid=_UIDS[user]))

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

    def clear(self) -> tuple[str, ...]:
        """Ask the engine what runs; restart the container unless that is process 1 alone."""
        if self._is_clear:
            return ()
        left = self._left()
        if left is None or left:
            self._restart()
            self._require_clear()
        if left is None:
            message = f"The engine did not show what runs in the sandbox of {self._spec.trial}; "
            raise SandboxError(message + "run the level again.")
        self._is_clear = True
        return tuple(task.name for task in left)

    def halt(self) -> tuple[str, ...]:
        found = self._strangers(self._engine.processes(self.handle))
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

    def _exec(self, command: Command) -> Exec:
        """Return the command such that its environment is exactly its own.

        The values stand in the exec alone, neither in argv, which every process inside can read,
        nor in the container; what the image and the engine would add is taken away by name.
        """
        env = {**command.env, **command.secret_env}
        unwanted = sorted((self._container.env_names | _ADDED_NAMES) - env.keys())
        blank = [argument for name in unwanted for argument in ("-u", name)]
        uid = _UIDS[command.user]
        return Exec(
            argv=("/usr/bin/env", "-C", command.cwd, *blank, "--", *command.argv),
            env=env,
            user=f"{uid}:{uid}",
            stdin=command.stdin,
        )

    def _restart(self) -> None:
        self._engine.kill(self.handle)
        self._engine.start(self.handle)
        self._is_clear = True

    def _left(self) -> tuple[Task, ...] | None:
        """Return what runs beside the keepers; None where they are not seen, so nobody knows.

        What has been killed a moment ago may still be listed: look again before restarting.
        """
        strangers: tuple[Task, ...] | None = None
        for look in range(_LOOKS):
            time.sleep(0.05 if look else 0.0)
            found = self._engine.processes(self.handle)
            strangers = self._strangers(found) if found else None
            if strangers is not None and len(strangers) == len(found):
                strangers = None
            if strangers == ():
                break
        return strangers

    def _require_clear(self) -> None:
        left = self._left()
        if left is None or left:
            names = ", ".join(task.name for task in left or ())
            message = f"Processes of the sandbox of {self._spec.trial} do not end ({names}); look "
            raise UnendedError(message + "at the engine's log, and run the trial again.")

    def _strangers(self, found: tuple[Task, ...]) -> tuple[Task, ...]:
        """Leave out process 1 and what it keeps: of its user, which no process inside can become.

        An engine that maps users shows another number than 0 for it.
        """
        init = self._engine.inspect(self.handle).init
        root = next((task.uid for task in found if task.pid == init), _ROOT_UID)
        return tuple(task for task in found if task.uid != root or task.name not in _KEEPERS)

    def _require_running(self) -> None:
        """Tell a command that was killed from one that died with its container.

        The engine notes the end of the container up to a moment after that of the command.
        """
        give_up = time.monotonic() + _DEATH_SECONDS
        while self._engine.inspect(self.handle).is_running:
            if time.monotonic() > give_up:
                return
            time.sleep(0.05)
        message = f"The sandbox of {self._spec.trial} ended while a command ran in it: its time is "
        raise SandboxError(message + "over, or it was stopped; start the trial again.")

    def _require_no_network(self) -> None:
        networks = self._engine.inspect(self.handle).networks
        if networks - {"none"}:
            message = f"The sandbox of {self._spec.trial} is still on {', '.join(sorted(networks))}"
            raise SandboxError(message + "; remove it and look at the engine's version.")


def start(spec: SandboxSpec) -> DockerSandbox:
    """Create and start a container; one of the same session that is left is removed first."""
    if spec.image is None:
        message = f"No image is given for {spec.trial}; name one with --image."
        raise SandboxError(message)
    engine = connect()
    Path(spec.mount).mkdir(parents=True, exist_ok=True)
    if spec.network is Network.OPEN:
        engine.ensure_network()
    options = container_options(spec, make_trace(spec), image=spec.image)
    container = engine.create(options)
    if container is None:
        _remove_leftover(engine, spec)
        container = engine.create(options)
    if container is None:
        message = f"Another container takes the name {options['name']} again and again; stop it."
        raise SandboxError(message)
    try:
        engine.start(container.id)
    except SandboxError:
        engine.remove(container.id)
        raise
    return DockerSandbox(spec, engine, container)


def attach(spec: SandboxSpec, handle: str) -> DockerSandbox:
    """Find the container that another process started for this session."""
    engine = connect()
    container = engine.inspect(handle)
    _require_own(container, spec)
    return DockerSandbox(spec, engine, container)


def sweep(*, alive: Alive) -> tuple[str, ...]:
    """Remove the containers that are left over; return their sessions.

    The network stays: it belongs to no session, and costs nothing.
    """
    engine = connect()
    gone: list[str] = []
    for container in engine.ours():
        trace = parse_labels(container.labels)
        if trace is not None and is_leftover(trace, alive=alive):
            engine.remove(container.id)
            gone.append(trace.session)
    return tuple(sorted(gone))


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


def _remove_leftover(engine: Engine, spec: SandboxSpec) -> None:
    container = engine.inspect(container_name(spec.session))
    _require_own(container, spec)
    engine.remove(container.id)


def _require_own(container: Container, spec: SandboxSpec) -> None:
    if container.labels.get("reb.session") != spec.session:
        message = f"Container {container.id[:12]} is not the sandbox of session {spec.session}; "
        raise SandboxError(message + "remove it, or look which folder this session has.")
