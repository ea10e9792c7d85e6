"""Measures the environment of a trial by a corrected manifest, and marks the trial for it."""

from dataclasses import replace

from reb_action.errors import UsageError
from reb_action.model.manifest import RUN_LEVELS, SELF, Level, Manifest
from reb_action.model.progress import Progress
from reb_action.probe.context import reveal
from reb_action.session import state
from reb_action.session.layout import SessionLayout
from reb_action.session.state import Phase, Session
from reb_action.source import entrypoints
from reb_action.source import pristine as source_pristine


def amend(layout: SessionLayout, manifest: Manifest, *, tell: Progress) -> None:
    """Replace the manifest of a trial whose agent has ended; its results are no record from now on.

    The commit stays. What a run level observed by another entry point is removed. Raises
    UsageError for another repository or commit, DocumentError for a path that the commit lacks.
    """
    with state.at_work(layout) as session:
        if session.phase is not Phase.FROZEN:
            raise UsageError(
                f"the agent in {layout.folder} has not ended; only then can its environment be"
                " measured by another manifest"
            )
        amended = _at_commit_of(session, manifest)
        checkout = source_pristine.open_existing(layout.source, amended.commit)
        entrypoints.demand_entrypoints(amended, checkout)
        for level in _list_changed(session.trial.manifest, amended):
            layout.observation(level).unlink(missing_ok=True)
            layout.log(level).unlink(missing_ok=True)
        reveal(layout.mount, amended)
        trial = replace(session.trial, manifest=amended)
        state.save(layout, replace(session, trial=trial, amended=True))
    tell("the manifest is replaced; the agent, its environment and the commit are as before")


def _at_commit_of(session: Session, manifest: Manifest) -> Manifest:
    """Return a manifest at the commit of a trial."""
    before = session.trial.manifest
    if manifest.repository != before.repository:
        raise UsageError(
            f"the manifest is of {manifest.repository}, and the trial of {before.repository}"
        )
    if manifest.commit not in (SELF, before.commit):
        raise UsageError(
            f"the manifest names the commit {manifest.commit[:12]}, and the trial has"
            f" {before.commit[:12]}; run a new trial"
        )
    if manifest.commit == before.commit:
        return manifest
    # The checkout may have moved on since; the sandbox has the commit of then.
    return replace(manifest, commit=before.commit, imports=before.imports, follows_checkout=True)


def _list_changed(before: Manifest, after: Manifest) -> tuple[Level, ...]:
    """Return the run levels that another manifest defines in another way."""
    shared = (before.files, before.assets) != (after.files, after.assets)
    return tuple(
        level
        for level in RUN_LEVELS
        if shared or before.entrypoints.get(level) != after.entrypoints.get(level)
    )
