"""Whether a step still fits into its job."""

from pathlib import Path

from reb_action.corpus import manifests
from reb_action.model.manifest import Level
from reb_action.workflow import deadline

DEMO = manifests.load(Path(__file__).parents[1] / "demo" / "manifest.yaml")


def test_step_that_fits_is_begun():
    assert deadline.shortage("C1", 600, 720) is None


def test_step_that_may_not_fit_says_what_to_do():
    assert deadline.shortage("C1", 600, 719) == (
        "C1 may take 12 minutes and this job has 11 left, so it was not started; continue in"
        " another job, or raise timeout-minutes and job-minutes"
    )


def test_job_that_is_over_has_no_minutes():
    assert "has 0 left" in deadline.shortage("C1", 600, -5)


def test_run_level_takes_its_timeout_the_decoys_and_what_is_around():
    timeout = DEMO.entrypoints[Level.C1].timeout_seconds
    assert deadline.level_seconds(DEMO, Level.C1) == timeout + 300 + 120
    assert deadline.level_seconds(DEMO, Level.C3) == 0
