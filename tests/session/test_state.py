"""Tests of whose session counts as alive when the leftovers of a machine are removed."""

import json
import os
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pytest

from reb_action.agents import install
from reb_action.errors import UsageError
from reb_action.model.manifest import Trial
from reb_action.sandbox import scratch, select
from reb_action.sandbox.local import neighbours
from reb_action.sandbox.owner import is_leftover, make_trace
from reb_action.sandbox.protocol import Kind
from reb_action.session import state
from reb_action.session.layout import SessionLayout
from reb_action.session.state import AgentChoice, Phase, Session
from reb_action.trial import leftovers
from tests.support.evidence import MANIFEST
from tests.support.sandbox_fixtures import shell, spec_for


def silent(_line):
    pass


@pytest.fixture
def layout(tmp_path):
    """The folder of a running trial whose caller is this process."""
    layout = SessionLayout(folder=tmp_path / "trial")
    session = Session(
        trial=Trial(manifest=MANIFEST, agent="nop", attempt=1),
        agent=AgentChoice(name="nop", argument=None, total_seconds=60, setup_seconds=60),
        levels=(),
        spec=spec_for(Kind.LOCAL, layout.work),
        owner=state.process(os.getpid()),
        phase=Phase.STARTED,
    )
    scratch.mark(layout.work, session.spec)
    state.save(layout, session)
    return layout


def write_other_schema(path: Path):
    document = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**document, "schema": document["schema"] + 1}), encoding="utf-8")


def write_unknown_field(path: Path):
    document = json.loads(path.read_text(encoding="utf-8"))
    document["value"]["hurry"] = True
    path.write_text(json.dumps(document), encoding="utf-8")


def write_missing_field(path: Path):
    document = json.loads(path.read_text(encoding="utf-8"))
    del document["value"]["levels"]
    path.write_text(json.dumps(document), encoding="utf-8")


def write_nothing(path: Path):
    path.write_text("", encoding="utf-8")


def write_folder(path: Path):
    path.unlink()
    path.mkdir()


def write_link(path: Path):
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


UNREADABLE = [
    write_other_schema,
    write_unknown_field,
    write_missing_field,
    write_nothing,
    write_folder,
    write_link,
]


@pytest.mark.parametrize("spoil", UNREADABLE)
def test_session_that_cannot_be_read_is_alive_until_it_expires(layout, spoil):
    trace = make_trace(state.load(layout).spec)
    spoil(layout.session)
    assert not is_leftover(trace, alive=state.is_alive)
    assert is_leftover(replace(trace, expires=int(time.time())), alive=state.is_alive)


@pytest.mark.parametrize("spoil", UNREADABLE)
def test_sweep_spares_the_trial_of_another_version(layout, spoil):
    spec = state.load(layout).spec
    sandbox = select.start(spec)
    try:
        shell(sandbox, "sleep 60 >/dev/null 2>&1 &")
        spoil(layout.session)
        leftovers.remove(Kind.LOCAL, beside=layout.folder.parent, tell=silent)
        assert layout.mount.is_dir()
        assert sandbox.halt() == ("sleep",)
    finally:
        sandbox.remove()


def test_sweep_keeps_the_neighbour_entry_of_another_version(layout, monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    spec = state.load(layout).spec
    entry = tmp_path / f"reb-local-{os.getuid()}" / "of-another-version"
    neighbours.enter(make_trace(spec), is_isolated=True)
    entry.write_text("reb.session=another", encoding="utf-8")
    neighbours.forget(alive=lambda _: False)
    assert list(entry.parent.iterdir()) == [entry]


def test_installation_is_alive_when_its_lock_cannot_be_opened(tmp_path):
    trace = make_trace(spec_for(Kind.LOCAL, tmp_path))
    assert not install.goes_on(trace)
    lock = tmp_path / "mount.lock"
    lock.unlink()
    lock.symlink_to(lock)
    assert install.goes_on(trace)


def test_readable_session_is_alive_until_it_is_stopped(layout):
    trace = make_trace(state.load(layout).spec)
    assert state.is_alive(trace)
    state.save(layout, replace(state.load(layout), phase=Phase.STOPPED))
    assert not state.is_alive(trace)


@pytest.mark.parametrize("role", ["owner", "busy"])
def test_session_is_dead_when_its_caller_or_its_step_has_ended(layout, role):
    session = state.load(layout)
    ended = replace(state.process(os.getpid()), started=1)
    state.save(layout, replace(session, **{role: ended}))
    assert not state.is_alive(make_trace(session.spec))


def test_session_is_dead_when_another_trial_has_its_folder(layout):
    trace = make_trace(state.load(layout).spec)
    assert not state.is_alive(replace(trace, session="another"))


def test_session_without_a_document_is_alive_while_its_mount_exists(layout):
    trace = make_trace(state.load(layout).spec)
    layout.session.unlink()
    assert state.is_alive(trace)
    layout.mount.rmdir()
    assert not state.is_alive(trace)


def test_advance_changes_the_phase_alone(layout):
    before = replace(state.load(layout), busy=state.process(os.getpid()))
    state.save(layout, before)
    assert state.advance(layout, Phase.FROZEN) == replace(before, phase=Phase.FROZEN)
    assert state.load(layout) == replace(before, phase=Phase.FROZEN)


@pytest.mark.parametrize("phase", [Phase.STARTED, Phase.STOPPED])
def test_advance_ends_the_step_that_starts_or_stops_a_trial(layout, phase):
    state.save(layout, replace(state.load(layout), busy=state.process(os.getpid())))
    assert state.advance(layout, phase).busy is None


def test_advance_of_a_stopped_trial_is_refused(layout):
    stopped = state.advance(layout, Phase.STOPPED)
    with pytest.raises(UsageError, match="cannot become frozen: it is stopped already"):
        state.advance(layout, Phase.FROZEN)
    assert state.load(layout) == stopped
