"""The demonstration: one small repository, an honest baseline and a lying agent."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from reb_action.corpus import manifests
from reb_action.errors import UsageError
from reb_action.model.agent import Report
from reb_action.model.manifest import Manifest
from reb_action.model.verdict import Verdict
from reb_action.progress import Progress
from reb_action.resources import data_folder
from reb_action.results import page
from reb_action.sandbox.protocol import Kind
from reb_action.session import evidence
from reb_action.session.layout import SessionLayout
from reb_action.session.output_folder import clear
from reb_action.session.state import AgentChoice
from reb_action.source.git import run_git
from reb_action.trial import run
from reb_action.trial.options import Options

_SECONDS: Final = 120

# Nothing of this machine or moment, so that the commit is always the one in the manifest.
_COMMIT: Final = """tree {tree}
author demo <demo@example.invalid> 1767225600 +0000
committer demo <demo@example.invalid> 1767225600 +0000

Spirals
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Shown:
    """A trial of the demonstration: its verdict, its folder, and the notes of its report."""

    verdict: Verdict
    folder: Path
    notes: str | None


def demo(folder: Path, *, environ: Mapping[str, str], tell: Progress) -> tuple[Shown, ...]:
    """Run both trials below `folder`, which an earlier demonstration may have left."""
    place = data_folder("tests") / "demo"
    if not place.is_dir():
        raise UsageError(
            "the demonstration is part of the repository, not of the installed package"
        )
    clear(folder, by="demo")
    mirror = folder / "mirror"
    wanted = committed(place, mirror)
    liar = AgentChoice(
        name="replay", argument=str(place / "liar"), total_seconds=_SECONDS, setup_seconds=_SECONDS
    )
    honest = AgentChoice(name="pip", argument=None, total_seconds=_SECONDS, setup_seconds=_SECONDS)
    shown: list[Shown] = []
    for name, choice in (("honest", honest), ("liar", liar)):
        tell(f"--- {name}: the agent {choice.name} on {wanted.repository}")
        shown.append(_trial(wanted, choice, folder / name, mirror, environ=environ, tell=tell))
    return tuple(shown)


def _trial(
    wanted: Manifest,
    choice: AgentChoice,
    folder: Path,
    mirror: Path,
    *,
    environ: Mapping[str, str],
    tell: Progress,
) -> Shown:
    options = Options(manifest=wanted, agent=choice, folder=folder, kind=Kind.LOCAL, mirror=mirror)
    verdict = run.run(options, environ=environ, tell=tell)
    layout = SessionLayout(folder=folder)
    page.write_page(layout, verdict)
    report = evidence.read(layout).report
    notes = report.notes if isinstance(report, Report) else None
    return Shown(verdict=verdict, folder=folder, notes=notes)


def committed(place: Path, mirror: Path) -> Manifest:
    """Make the shipped files a git repository, as a repository under test is one."""
    wanted = manifests.load(place / "manifest.yaml")
    repository = mirror / wanted.repository
    shutil.copytree(place / "repository", repository)
    place = repository / ".git"
    to = "commit the example"
    run_git(place, "init", "--quiet", to=to)
    run_git(place, f"--work-tree={repository}", "add", ".", to=to)
    tree = run_git(place, "write-tree", to=to).decode().strip()
    text = place / "commit"
    text.write_text(_COMMIT.format(tree=tree), encoding="utf-8")
    head = run_git(place, "hash-object", "-t", "commit", "-w", str(text), to=to).decode().strip()
    run_git(place, "update-ref", "HEAD", head, to=to)
    return wanted
