"""Which limits of a container were hit: from outside if its group is visible, else by a command."""

from dataclasses import replace
from pathlib import Path
from typing import Final

from reb_action.model.limits import LimitHits
from reb_action.sandbox.capture import Capture
from reb_action.sandbox.cgroup import LOOK, is_disk_full, parse_hits, show_group
from reb_action.sandbox.docker.command import ROOT_UID, build_exec
from reb_action.sandbox.docker.container import Container
from reb_action.sandbox.docker.engine import Engine
from reb_action.sandbox.docker.processes import follow
from reb_action.sandbox.layout import SandboxLayout
from reb_action.sandbox.protocol import Command, User
from reb_action.sandbox.wait import Patience

_HITS_SECONDS: Final = 20
_HITS_BYTES: Final = 64 * 1024


def find_hits(
    engine: Engine, container: Container, *, disk: Path | None, has_quota: bool
) -> LimitHits:
    """Return how often the kernel enforced a limit of a container since its start.

    `disk` is a folder on the disk of the container; None if it is not visible from here. Only
    a command in the container, which takes about 0.1 s, can tell whether a quota of it is used up;
    and where no more processes can be started, the command cannot count them.
    """
    seen = None if disk is None else _read_hits(engine, container, disk)
    if seen is not None and not has_quota:
        return seen
    inside = count_hits(engine, container, SandboxLayout().workspace)
    return inside if seen is None else replace(seen, disk_full=seen.disk_full or inside.disk_full)


def _read_hits(engine: Engine, container: Container, disk: Path) -> LimitHits | None:
    process = Path("/proc") / str(engine.inspect(container.id).init)
    try:
        groups = (process / "cgroup").read_text(encoding="utf-8")
        is_full = is_disk_full(disk)
    except OSError:
        return None
    lines = show_group(groups, name=container.id)
    return None if lines is None else parse_hits(lines, disk_full=is_full)


def count_hits(engine: Engine, container: Container, folder: str) -> LimitHits:
    """Return how often the kernel enforced a limit of a container since its start.

    `folder` is on the disk of the container whose free space is measured.
    """
    argv = ("/bin/sh", "-c", LOOK, "sh", folder)
    command = Command(argv=argv, cwd="/", timeout_seconds=_HITS_SECONDS, user=User.ROOT)
    lines = Capture(_HITS_BYTES, pass_on=None)
    nothing = Capture(_HITS_BYTES, pass_on=None)
    order = build_exec(command, uid=ROOT_UID, container=container)
    running = engine.execute(container.id, order, out=lines, err=nothing)
    with running.stream:
        code = follow(engine, running, Patience(command.timeout_seconds))
    hits = parse_hits(lines.kept().decode("utf-8", "replace"))
    if code != 0 and engine.is_out_of_processes(container.id):
        # Then the script could not start its programs either.
        return replace(hits, processes_refused=max(hits.processes_refused, 1))
    return hits
