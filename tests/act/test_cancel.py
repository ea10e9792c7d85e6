"""What a cancelled job leaves: signals to each step, as the runner sends them."""

import os
import signal
import time

import pytest

from reb_action.sandbox.protocol import Kind
from reb_action.session import state
from reb_action.session.layout import SessionLayout
from reb_action.trial import start, stop
from tests.act.cancelling import (
    COMMANDS,
    SIGNALS,
    WORK,
    assert_next_trial_works,
    assert_nothing_is_left,
    begun,
    caught,
    given_to,
    options,
    patience,
    processes_of,
    reb,
    seen,
    silent,
    until,
)


@pytest.mark.parametrize("number", SIGNALS[:2], ids=lambda one: one.name)
@pytest.mark.parametrize("step", [step for step in COMMANDS if step != "stop"])
def test_interrupt_at_a_step_ends_it_and_stop_cleans_up(
    place, tmp_path, worker, full, kind, step, number
):
    layout = begun(place, tmp_path / "trial", step, worker, kind=kind)
    running = caught(layout, step, full)
    sent = time.monotonic()
    running.send_signal(number)
    # A runner goes on reading what its steps print.
    time.sleep(0.1)
    os.read(full[0], 1024 * 1024)
    assert running.wait(timeout=patience()) == 130
    ended = time.monotonic() - sent
    assert reb("stop", layout.folder).wait(timeout=patience()) == 0
    taken = time.monotonic() - sent
    seen(f"{kind} {step} {number.name}", exit=ended, clean=taken)
    assert_nothing_is_left(layout, state.load(layout))
    assert taken < patience(), f"{taken:.1f} s"


def test_interrupt_at_stop_lets_it_finish(place, tmp_path, worker, full, kind):
    layout = begun(place, tmp_path / "trial", "stop", worker, kind=kind)
    running = caught(layout, "stop", full)
    running.send_signal(signal.SIGINT)
    assert running.wait(timeout=patience()) == 0
    assert_nothing_is_left(layout, state.load(layout))


@pytest.mark.parametrize(
    ("step", "number"),
    [*((step, signal.SIGKILL) for step in COMMANDS), ("stop", signal.SIGTERM)],
    ids=lambda one: getattr(one, "name", one),
)
def test_kill_at_a_step_leaves_nothing_after_the_next_start(
    place, tmp_path, worker, full, kind, step, number
):
    layout = begun(place, tmp_path / "trial", step, worker, kind=kind)
    running = caught(layout, step, full)
    running.send_signal(number)
    assert running.wait(timeout=patience()) in {130, -signal.SIGKILL}
    worker.kill()
    worker.wait()
    assert layout.work.exists()
    assert_next_trial_works(place, tmp_path / "other", kind)
    assert_nothing_is_left(layout, state.load(layout))


@pytest.mark.parametrize("number", SIGNALS[:2], ids=lambda one: one.name)
def test_interrupt_of_a_whole_run_cleans_up_by_itself(place, tmp_path, kind, number):
    layout = SessionLayout(folder=tmp_path / "trial")
    given = given_to(place, layout, kind)
    given |= {"REB_AGENT": "replay", "REB_AGENT_ARGUMENT": str(place / "slow")}
    running = reb("run", place / "tiny.yaml", **given)
    until(layout.source.exists)
    before = state.load(layout)
    until(lambda: any(WORK["agent"] in words for words in processes_of(before.handle).values()))
    sent = time.monotonic()
    running.send_signal(number)
    assert running.wait(timeout=patience()) == 130
    seen(f"{kind} run {number.name}", clean=time.monotonic() - sent)
    assert_nothing_is_left(layout, before)


@pytest.mark.parametrize("number", SIGNALS, ids=lambda one: one.name)
def test_signal_while_a_trial_starts_leaves_nothing_after_the_next_start(
    place, tmp_path, kind, number
):
    layout = SessionLayout(folder=tmp_path / "trial")
    given = {**given_to(place, layout, kind), "REB_AGENT": "nop"}
    running = reb("start", place / "tiny.yaml", **given)
    until(layout.mount.exists)
    before = state.load(layout)
    running.send_signal(number)
    sent = time.monotonic()
    assert running.wait(timeout=patience()) in {130, -signal.SIGKILL}
    seen(f"{kind} start {number.name}", exit=time.monotonic() - sent)
    # A start that can still do so cleans up by itself.
    assert layout.folder.exists() is (number is signal.SIGKILL)
    # Whoever called it lives on, as a worker does whose step was killed.
    assert_next_trial_works(place, tmp_path / "other", kind)
    assert_nothing_is_left(layout, before)


def test_what_a_cancelled_job_leaves_is_gone_after_the_next_start(cancelled, place, tmp_path):
    run = cancelled.of("cancelled")
    assert run.step("reb", "agent") != "success"
    assert run.step("reb", "C0") is None
    other = options(place, tmp_path / "other", "honest", kind=Kind.LOCAL)
    start.start(other, owner=os.getpid(), tell=silent)
    stop.stop(SessionLayout(folder=other.folder), tell=silent)
    assert processes_of(run.outputs("reb", "set-up")["folder"]) == {}
