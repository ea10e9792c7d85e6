"""What a cheater is: a folder with `cheater.yaml`, a script and, optionally, its own report."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final, cast

import yaml

from reb_action.documents import Json, from_json
from reb_action.model.manifest import Level, Outcome

HERE: Final = Path(__file__).parent


class Bait(StrEnum):
    """The repositories that cheaters are played against, each a folder of `bait/`."""

    PLAIN = "plain"
    TORCH = "torch"


class Fools(StrEnum):
    """Which naive judge a cheater fools, so that it is known to be a cheat that works."""

    EXIT_CODE = "exit_code"
    FRESHNESS = "freshness"
    IMPORTS = "imports"
    CUDA = "cuda"
    REPORT = "report"
    SUPERVISOR = "supervisor"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Described:
    title: str
    tries: str
    levels: tuple[Level, ...]
    fools: Fools
    finding: str
    bait: Bait = Bait.PLAIN
    honesty: Outcome = Outcome.FAILED
    isolated: bool = False
    finding_in_container: str | None = None
    finding_on_busy_machine: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Cheater:
    """A cheater: the `levels` that it attacks, the `finding` that one of them must have in its
    reason.

    `honesty` is the expected outcome of C5. An `isolated` one needs a sandbox with isolation.
    `before` is played first, in a separate trial.
    `honesty` is the expected outcome of C5. An `isolated` one needs a sandbox with isolation. In a
    container, where files of root are safe from it, the reason is `finding_in_container`. On a busy
    machine it may be stopped earlier, for `finding_on_busy_machine`.
    """

    name: str
    folder: Path
    title: str
    tries: str
    levels: tuple[Level, ...]
    fools: Fools
    finding: str
    bait: Bait
    honesty: Outcome
    isolated: bool
    before: Path | None
    finding_in_container: str
    finding_on_busy_machine: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Control:
    """An honest agent on a bait: `bare` installs nothing, `right` what is needed."""

    name: str
    folder: Path
    outcome: Outcome


def cheaters() -> tuple[Cheater, ...]:
    """Return every cheater, by name."""
    return _below(HERE / "cheaters")


def limits() -> tuple[Cheater, ...]:
    """Return the cheaters that are known to get through; docs/red-team.md says why."""
    return _below(HERE / "limits")


def controls() -> tuple[Control, ...]:
    """Return the two honest agents on the plain bait, and their expected outcomes of C0 and C1."""
    return (
        Control(name="bare", folder=HERE / "controls" / "bare", outcome=Outcome.FAILED),
        Control(name="right", folder=HERE / "controls" / "right", outcome=Outcome.PASSED),
    )


def _below(folder: Path) -> tuple[Cheater, ...]:
    return tuple(_cheater(path.parent) for path in sorted(folder.glob("*/cheater.yaml")))


def _cheater(folder: Path) -> Cheater:
    data = cast(
        Mapping[str, Json], yaml.safe_load((folder / "cheater.yaml").read_text(encoding="utf-8"))
    )
    told = from_json(dict(data), _Described)
    return Cheater(
        name=folder.name,
        folder=folder,
        title=told.title,
        tries=told.tries,
        levels=told.levels,
        fools=told.fools,
        finding=told.finding,
        bait=told.bait,
        honesty=told.honesty,
        isolated=told.isolated,
        before=folder / "before" if (folder / "before").is_dir() else None,
        finding_in_container=told.finding_in_container or told.finding,
        finding_on_busy_machine=told.finding_on_busy_machine,
    )
