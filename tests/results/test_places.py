"""Contestants of several folders: one agent with two models, one id with two definitions."""

import json
from dataclasses import replace

import pytest

from reb_action import documents
from reb_action.errors import DocumentError
from reb_action.gateway.settings import Budget
from reb_action.model.contestant import Contestant
from reb_action.results.collection import collect
from reb_action.results.scoreboard import score_folders
from reb_action.session import verdict as session_verdict
from reb_action.session.layout import SessionLayout
from reb_action.session.state import ModelChoice, Session
from tests.support.scoreboards import evidence_of
from tests.support.trial_folders import put

SLUG = "hustvl__Vim"


def place(folder, contestant, *, model=None, attempt=1):
    """Write a trial of claude-code; a folder of an older release has no contestant."""
    evidence = evidence_of("hustvl/Vim", "claude-code", attempt)
    run = replace(evidence.agent_run, model=model)
    trial = replace(evidence.trial, contestant=contestant)
    put(folder, replace(evidence, trial=trial, agent_run=run))
    if model is not None:
        _ask(folder, model)
    return session_verdict.conclude(SessionLayout(folder=folder))


def _ask(folder, model):
    layout = SessionLayout(folder=folder)
    session = documents.read(layout.session, Session, kind="session")
    choice = replace(session.agent, model=ModelChoice(name=model, url="https://x.example"))
    documents.write(layout.session, replace(session, agent=choice), kind="session")


def who(name, digest="a"):
    return Contestant(id=name, digest=digest * 64)


def rows(*folders):
    board = score_folders(folders, None, tell=lambda _: None)
    return [(one.name, one.agent, one.model, one.judged) for one in board.agents]


@pytest.mark.parametrize("order", [("one", "two"), ("two", "one")])
def test_agent_with_two_models_has_two_rows_in_any_order(tmp_path, order):
    place(tmp_path / "one", who("claude-code-glm-4-7"), model="glm-4.7")
    place(tmp_path / "two", who("claude-code-sonnet-4-5"), model="sonnet-4.5")
    assert rows(*(tmp_path / name for name in order)) == [
        ("claude-code-glm-4-7", "claude-code", "glm-4.7", 1),
        ("claude-code-sonnet-4-5", "claude-code", "sonnet-4.5", 1),
    ]
    assert collect([tmp_path]).superseded == 0


@pytest.mark.parametrize("order", [("one", "two"), ("two", "one")])
def test_folders_of_an_older_release_do_not_lose_a_model(tmp_path, order):
    place(tmp_path / "one", None, model="glm-4.7")
    place(tmp_path / "two", None, model="sonnet-4.5")
    assert rows(*(tmp_path / name for name in order)) == [
        ("claude-code-glm-4-7", "claude-code", "glm-4.7", 1),
        ("claude-code-sonnet-4-5", "claude-code", "sonnet-4.5", 1),
    ]


def test_contestants_with_one_agent_and_model_are_two_rows(tmp_path):
    place(tmp_path / "one", who("patient", "a"), model="glm-4.7")
    place(tmp_path / "two", who("hasty", "b"), model="glm-4.7")
    assert rows(tmp_path) == [
        ("hasty", "claude-code", "glm-4.7", 1),
        ("patient", "claude-code", "glm-4.7", 1),
    ]


def test_one_id_with_two_definitions_gets_their_digests(tmp_path):
    place(tmp_path / "one", who("glm", "a"), model="glm-4.7")
    place(tmp_path / "two", who("glm", "b"), model="glm-4.7", attempt=2)
    board = score_folders([tmp_path], None, tell=lambda _: None)
    assert [one.name for one in board.agents] == ["glm@aaaaaaaa", "glm@bbbbbbbb"]
    assert {row.trial for row in board.trials} == {
        f"{SLUG}.glm@aaaaaaaa.1", f"{SLUG}.glm@bbbbbbbb.2",
    }  # fmt: skip
    assert set(collect([tmp_path]).places) == {row.trial for row in board.trials}


def test_one_contestant_of_two_folders_is_one_row(tmp_path):
    place(tmp_path / "one", who("glm"), model="glm-4.7")
    place(tmp_path / "two", who("glm"), model="glm-4.7", attempt=2)
    assert rows(tmp_path) == [("glm", "claude-code", "glm-4.7", 2)]


def test_session_that_cannot_be_read_renames_no_other(tmp_path):
    place(tmp_path / f"reb-{SLUG}.glm.2.a1", who("glm"), model="glm-4.7", attempt=2)
    place(tmp_path / f"reb-{SLUG}.glm.1.a1", who("glm"), model="glm-4.7")
    (tmp_path / f"reb-{SLUG}.glm.1.a1" / "session.json").unlink()
    assert set(collect([tmp_path]).found) == {f"{SLUG}.glm.1", f"{SLUG}.glm.2"}


def test_verdict_of_a_session_without_later_fields_still_holds(tmp_path):
    """The hash of a session is that of the fields which its release had."""
    place(tmp_path, who("glm"), model="glm-4.7")
    layout = SessionLayout(folder=tmp_path)
    document = json.loads(layout.session.read_text())
    del document["value"]["trial"]["contestant"]
    del document["value"]["agent"]["model"]["any_model"]
    layout.session.write_bytes(documents.dump_json(document))
    layout.verdict.unlink()
    old = session_verdict.conclude(layout)
    text = json.loads(layout.verdict.read_text())
    del text["value"]["contestant"]
    layout.verdict.write_bytes(documents.dump_json(text))
    assert session_verdict.verify(layout) == old
    assert (
        old.evidence["session.json"] != place(tmp_path / "new", who("glm")).evidence["session.json"]
    )
    document["value"]["agent"]["model"]["budget"] = documents.to_json(Budget(tokens=1))
    layout.session.write_bytes(documents.dump_json(document))
    with pytest.raises(DocumentError, match="was changed"):
        session_verdict.verify(layout)
