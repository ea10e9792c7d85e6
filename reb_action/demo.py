"""The demo: one small repository, an honest baseline and a lying agent."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from reb_action.corpus import manifests
from reb_action.errors import UsageError
from reb_action.model.manifest import Manifest
from reb_action.model.progress import Progress
from reb_action.model.report import Report
from reb_action.model.verdict import Verdict
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

# Fixed author and time, so that the commit is always the one in the manifest.
_COMMIT: Final = """tree {tree}
author demo <demo@example.invalid> 1767225600 +0000
committer demo <demo@example.invalid> 1767225600 +0000

Spirals
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class DemoTrial:
    """A trial of the demo: its verdict, its folder, and the notes of its report."""

    verdict: Verdict
    folder: Path
    notes: str | None


def run_demo(folder: Path, *, environ: Mapping[str, str], tell: Progress) -> tuple[DemoTrial, ...]:
    """Run both trials below `folder`, which is replaced if an earlier demo created it."""
    source = data_folder("tests") / "demo"
    if not source.is_dir():
        raise UsageError(
            "the demo is not part of the installed package; run it from a clone of the repository"
        )
    clear(folder, by="demo")
    mirror = folder / "mirror"
    manifest = commit_repository(source, mirror)
    liar = AgentChoice(
        name="replay", argument=str(source / "liar"), total_seconds=_SECONDS, setup_seconds=_SECONDS
    )
    honest = AgentChoice(name="pip", argument=None, total_seconds=_SECONDS, setup_seconds=_SECONDS)
    trials: list[DemoTrial] = []
    for name, choice in (("honest", honest), ("liar", liar)):
        tell(f"--- {name}: agent {choice.name} on {manifest.repository}")
        trials.append(
            _run_trial(manifest, choice, folder / name, mirror, environ=environ, tell=tell)
        )
    return tuple(trials)


def _run_trial(
    manifest: Manifest,
    choice: AgentChoice,
    folder: Path,
    mirror: Path,
    *,
    environ: Mapping[str, str],
    tell: Progress,
) -> DemoTrial:
    options = Options(
        manifest=manifest, agent=choice, folder=folder, kind=Kind.LOCAL, mirror=mirror
    )
    verdict = run.run(options, environ=environ, tell=tell)
    layout = SessionLayout(folder=folder)
    page.write_page(layout, verdict)
    report = evidence.read(layout).report
    notes = report.notes if isinstance(report, Report) else None
    return DemoTrial(verdict=verdict, folder=folder, notes=notes)


def commit_repository(source: Path, mirror: Path) -> Manifest:
    """Commit the files of the demo to a new git repository in the mirror."""
    manifest = manifests.load(source / "manifest.yaml")
    repository = mirror / manifest.repository
    shutil.copytree(source / "repository", repository)
    place = repository / ".git"
    to = "commit the example"
    run_git(place, "init", "--quiet", to=to)
    run_git(place, f"--work-tree={repository}", "add", ".", to=to)
    tree = run_git(place, "write-tree", to=to).decode().strip()
    text = place / "commit"
    text.write_text(_COMMIT.format(tree=tree), encoding="utf-8")
    head = run_git(place, "hash-object", "-t", "commit", "-w", str(text), to=to).decode().strip()
    run_git(place, "update-ref", "HEAD", head, to=to)
    return manifest
