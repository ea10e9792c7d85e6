"""The self-test of this installation: honest agents first, then every cheater."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final

from reb_action.errors import UsageError
from reb_action.redteam.cheater import Cheater, Control, cheaters, controls
from reb_action.redteam.play import Arena, Finding, arena, control, play
from reb_action.sandbox.protocol import Kind

_WIDTH: Final = 22


def selftest(
    folder: Path, *, kind: Kind, image: str | None, gpus: int, only: str | None, jobs: int
) -> Iterator[tuple[str, bool]]:
    """Yield a line for each play, and whether it passed; `jobs` plays run at a time."""
    chosen = _chosen(only)
    where = arena(folder, kind=kind, image=image, gpus=gpus)
    plays = (
        *(partial(_control, where, honest) for honest in controls()),
        *(partial(_tried, where, cheater) for cheater in chosen),
    )
    if jobs == 1:
        # Without a thread an interrupt ends the play at work at once.
        yield from map(_call, plays)
        return
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        yield from pool.map(_call, plays)


def _call(play: Callable[[], tuple[str, bool]]) -> tuple[str, bool]:
    return play()


def _control(where: Arena, honest: Control) -> tuple[str, bool]:
    return _line(control(where, honest))


def _chosen(only: str | None) -> tuple[Cheater, ...]:
    chosen = tuple(cheater for cheater in cheaters() if only in (None, cheater.name))
    if not chosen:
        names = ", ".join(cheater.name for cheater in cheaters())
        raise UsageError(f"there is no cheater {only}; the cheaters are {names}")
    return chosen


def _tried(where: Arena, cheater: Cheater) -> tuple[str, bool]:
    if cheater.isolated and where.kind is Kind.LOCAL:
        reason = "left out: it needs a sandbox with isolation; use --sandbox docker"
        return f"{cheater.name:{_WIDTH}} {reason}", True
    return _line(play(where, cheater))


def _line(finding: Finding) -> tuple[str, bool]:
    fine = not finding.faults
    told = ", ".join(f"{result.level} {result.outcome}" for result in finding.results)
    reasons = finding.faults or (finding.results[0].reason,)
    mark = "ok   " if fine else "FAULT"
    return f"{finding.name:{_WIDTH}} {mark} {told}: {'; '.join(reasons)}", fine
