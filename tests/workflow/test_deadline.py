"""Whether a step still fits into its job."""

import time
from pathlib import Path

import pytest

from reb_action.corpus import manifests
from reb_action.model.agent import Protocol
from reb_action.model.manifest import Level
from reb_action.sandbox.protocol import Kind
from reb_action.session.state import AgentChoice
from reb_action.trial import options as trial_options
from reb_action.workflow import deadline
from reb_action.workflow.batch import Job, time_shortage

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


@pytest.mark.parametrize(("protocol", "clocks"), [("standard", 1), ("paper", 2)])
def test_agent_has_a_clock_for_each_start_of_its_protocol(protocol, clocks):
    seconds = deadline.agent_seconds(3600, 600, Protocol(protocol))
    assert seconds == clocks * 3600 + 600 + 900


@pytest.mark.parametrize(("protocol", "fits"), [("standard", True), ("paper", False)])
def test_batch_begins_no_trial_whose_retry_does_not_fit(protocol, fits):
    choice = AgentChoice(
        name="nop", argument=None, total_seconds=3600, setup_seconds=600, idle_seconds=1800,
        protocol=Protocol(protocol),
    )  # fmt: skip
    options = trial_options.Options(
        manifest=DEMO, agent=choice, folder=Path("trial"), kind=Kind.LOCAL, levels=()
    )
    job = Job(id="trial", options=options, environ={})
    # Once is 5,100 s with the freeze, twice 8,700; 120 s are kept for the end.
    assert (time_shortage(job, time.time() + 6000) is None) is fits


def test_run_level_takes_its_timeout_the_decoys_and_what_is_around():
    timeout = DEMO.entrypoints[Level.C1].timeout_seconds
    assert deadline.level_seconds(DEMO, Level.C1) == timeout + 300 + 120
    assert deadline.level_seconds(DEMO, Level.C3) == 0
