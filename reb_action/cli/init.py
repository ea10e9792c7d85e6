"""The command that drafts a manifest: init."""

import os
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from reb_action.cli.completion import complete_agents
from reb_action.cli.groups import ModelOptions, PlaceOptions, RunnerOptions, TrialOptions
from reb_action.cli.options import FOLDER, NEW_FILE
from reb_action.cli.runner_options import place_options
from reb_action.errors import UsageError
from reb_action.model.manifest import SELF, Level

if TYPE_CHECKING:
    from reb_action.draft.candidates import Candidate
    from reb_action.draft.draft import Draft
    from reb_action.draft.project import Project
    from reb_action.model.manifest import Manifest
    from reb_action.model.progress import Progress
    from reb_action.trial.options import Options

_FILE: Final = "researchenvbench.yaml"
_TRIED: Final = 8


@click.command()
@click.argument("repository", required=False)
@click.option(
    "--output", type=NEW_FILE,
    help=f"The manifest to write; must not exist.  [default: {_FILE}]",
)  # fmt: skip
@click.option(
    "--try", "tries", is_flag=True,
    help="Set the repository up in a sandbox, run candidates, and write proofs that were observed.",
)  # fmt: skip
@click.option(
    "--agent", shell_complete=complete_agents,
    help="With --try: the agent that sets the repository up.  [default: documented, which runs the"
    " instructions that were found; uv if there are none]",
)  # fmt: skip
@click.option(
    "--results", "folder", type=FOLDER,
    help="With --try: folder of the trial; must not exist.  [default: results/init]",
)  # fmt: skip
@place_options
def init(
    repository: str | None,
    *,
    output: Path | None,
    tries: bool,
    agent: str | None,
    folder: Path | None,
    place: PlaceOptions,
) -> None:
    """Draft a manifest of REPOSITORY or of your checkout.

    REPOSITORY is an owner/name. The committed files are read; only --try runs anything of them.
    Lines of the manifest that are marked "unsure" need a look.
    """
    from reb_action.cli.console import show_progress

    with show_progress(quiet=False) as tell, tempfile.TemporaryDirectory() as scratch:
        manifest, own = _identify(repository, place.mirror)
        path = output or (own or Path.cwd()) / _FILE
        if path.exists() or path.is_symlink():
            raise UsageError(f"{path} exists; remove it, or name another file with --output")
        project = _read(manifest, own, Path(scratch) / "source", place, tell)
        draft, candidates = _draft(project, manifest, own)
        if tries:
            follows = manifest.follows_checkout
            pinned = replace(draft.manifest, commit=manifest.commit, follows_checkout=follows)
            options = _make_options(pinned, own, agent, folder, place)
            draft = _try(options, draft, candidates, tell)
    _write(path, draft, project, candidates)


def _identify(repository: str | None, mirror: Path | None) -> "tuple[Manifest, Path | None]":
    """Return a bare manifest at the newest commit, and the checkout if it is of one."""
    from reb_action.model.manifest import Manifest
    from reb_action.source.head import (
        demand_name,
        find_checkout,
        find_head,
        find_name,
        make_name,
    )
    from reb_action.source.own_checkout import pin_to_checkout

    if repository is not None:
        demand_name(repository)
        return Manifest(repository=repository, commit=find_head(repository, mirror)), None
    own = find_checkout(Path.cwd())
    name = find_name(own) or make_name(own)
    return pin_to_checkout(Manifest(repository=name, commit=SELF), own), own


def _read(
    manifest: "Manifest", own: Path | None, folder: Path, place: PlaceOptions, tell: "Progress"
) -> "Project":
    from reb_action.draft.project import read_project
    from reb_action.source.checkout import checkout

    tell(f"reading {manifest.repository} at {manifest.commit[:12]}")
    return read_project(checkout(manifest, folder=folder, mirror=place.mirror, tell=tell, own=own))


def _draft(
    project: "Project", manifest: "Manifest", own: Path | None
) -> "tuple[Draft, tuple[Candidate, ...]]":
    from reb_action.draft.candidates import list_candidates
    from reb_action.draft.draft import draft_manifest

    commit = manifest.commit if own is None else SELF
    return draft_manifest(project, manifest.repository, commit=commit), list_candidates(project)


def _make_options(
    manifest: "Manifest",
    own: Path | None,
    agent: str | None,
    folder: Path | None,
    place: PlaceOptions,
) -> "Options":
    """Return the options of the trial in which candidates are tried."""
    from reb_action.cli import arguments

    chosen = agent or ("uv" if manifest.setup is None else "documented")

    runner = RunnerOptions(place=place, model_options=ModelOptions(), levels=(Level.C0, Level.C1))
    trial = TrialOptions(
        repository=manifest.repository, agent=chosen, folder=folder or Path("results/init")
    )
    return arguments.make_own_trial(manifest, own, trial, runner)


def _try(
    options: "Options", draft: "Draft", candidates: "tuple[Candidate, ...]", tell: "Progress"
) -> "Draft":
    """Return the draft with the first candidate that a run proved."""
    from reb_action.draft.draft import with_candidate
    from reb_action.draft.try_out import try_candidates

    # The last one is the driver, which only imports: it is tried whatever there is before it.
    chosen = (*candidates[: _TRIED - 1], *candidates[_TRIED - 1 :][-1:])
    attempt = try_candidates(options, chosen, environ=os.environ, tell=tell)
    for failure in attempt.failures:
        tell(f"not proved: {failure}")
    if attempt.observed is None:
        tell("no candidate was proved; the manifest has the likeliest one, with a guessed proof")
        return draft
    return with_candidate(draft, attempt.observed, observed=True)


def _write(
    path: Path, draft: "Draft", project: "Project", candidates: "tuple[Candidate, ...]"
) -> None:
    from reb_action.corpus import manifests
    from reb_action.draft.draft import explain_draft
    from reb_action.draft.manifest_text import write_draft
    from reb_action.model.quantity import count
    from reb_action.render.escape import log

    path.write_text(write_draft(draft), encoding="utf-8")
    for line in explain_draft(draft, project, candidates):
        click.echo(log(line))
    unsure = sum(len(notes) for notes in draft.notes.values())
    click.echo(f"wrote {path}, with {count(unsure, 'line')} marked unsure")
    manifests.load(path)


INIT = (init,)
"""The command that drafts a manifest."""
