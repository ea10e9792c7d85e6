"""A corrected manifest in a kept environment: measured in seconds, marked, and no record."""

from dataclasses import replace

import pytest

from reb_action.errors import DocumentError, UsageError
from reb_action.model.manifest import SELF, Level, LogProof, Outcome
from reb_action.results import collection
from reb_action.session import state
from reb_action.session import verdict as session_verdict
from reb_action.session.layout import SessionLayout
from reb_action.session.state import Phase
from reb_action.trial import probe, stop
from reb_action.trial import run as trial_run
from reb_action.trial.amend import amend
from tests.trial.test_trial import honest, options_of, silent, simple_manifest


def with_proof(manifest, log):
    entrypoint = replace(manifest.entrypoints[Level.C1], proofs=(LogProof(log=log),))
    return replace(manifest, entrypoints={Level.C1: entrypoint})


@pytest.fixture(scope="module")
def kept(mirror, tmp_path_factory):
    """A trial of a manifest with a wrong proof, whose sandbox was kept."""
    place = tmp_path_factory.mktemp("kept")
    (place / "player").mkdir()
    (place / "player" / "notes.txt").touch()
    honest(place / "player")
    wrong = with_proof(simple_manifest(), "^imported Circles")
    options = options_of(wrong, place / "player", mirror, place / "results", levels=(Level.C1,))
    verdict = trial_run.run(options, environ={}, tell=silent, keep=True)
    layout = SessionLayout(folder=options.folder)
    assert verdict.result(Level.C1).outcome is Outcome.FAILED
    assert (verdict.amended, state.load(layout).phase) == (False, Phase.FROZEN)
    yield layout
    stop.stop(layout, tell=silent)


def test_manifest_of_another_commit_is_refused(kept):
    with pytest.raises(UsageError, match="run a new trial"):
        amend(kept, replace(simple_manifest(), commit="0" * 40), tell=silent)
    with pytest.raises(UsageError, match="the manifest is of other/name"):
        amend(kept, replace(simple_manifest(), repository="other/name"), tell=silent)


def test_path_that_the_commit_lacks_is_named(kept):
    entrypoint = replace(simple_manifest().entrypoints[Level.C1], decoy="gone.py")
    wrong = replace(simple_manifest(), entrypoints={Level.C1: entrypoint})
    with pytest.raises(DocumentError, match=r'C1.decoy: "gone.py" is not a tracked file'):
        amend(kept, wrong, tell=silent)


def test_corrected_manifest_passes_in_the_kept_environment_and_is_marked(kept):
    # As in the author's own repository, where the manifest follows the checkout.
    amend(kept, replace(simple_manifest(), commit=SELF, imports=None), tell=silent)
    assert not kept.observation(Level.C1).exists()
    assert probe.probe_level(kept, Level.C1, tell=silent).outcome is Outcome.PASSED
    verdict = session_verdict.conclude(kept)
    assert verdict.result(Level.C1).outcome is Outcome.PASSED
    assert (verdict.amended, verdict.commit) == (True, simple_manifest().commit)
    assert session_verdict.judged(kept) == session_verdict.AMENDED
    assert session_verdict.judge_again(kept) == verdict


def test_amended_trial_is_no_result_of_a_run(kept):
    session_verdict.conclude(kept)
    if not state.load(kept).amended:
        amend(kept, simple_manifest(), tell=silent)
        session_verdict.conclude(kept)
    collected = collection.collect((kept.folder.parent,))
    assert list(collected.found.values()) == [session_verdict.AMENDED]
