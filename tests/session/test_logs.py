"""The logs that a verdict rests on: their heads and tails, read from regular files alone."""

import pytest

from reb_action.judge.diagnosis.excerpt import HEAD_CHARACTERS, TAIL_CHARACTERS
from reb_action.model.manifest import Level
from reb_action.session import evidence
from reb_action.session.layout import SessionLayout


@pytest.fixture
def layout(tmp_path):
    (tmp_path / "levels").mkdir()
    return SessionLayout(folder=tmp_path)


def logs(layout):
    return dict(evidence._logs(layout))


def test_short_log_is_read_whole(layout):
    layout.log("C1").write_bytes(b"one\n\xfftwo\n")
    assert logs(layout) == {Level.C1: "one\n\ufffdtwo\n"}


def test_long_log_is_cut_to_what_a_diagnosis_searches(layout):
    head, tail = "h" * HEAD_CHARACTERS, "t" * TAIL_CHARACTERS
    layout.log("C3").write_text(head + "\n" + "middle\n" * 500_000 + tail)
    read = logs(layout)[Level.C3]
    assert read.startswith(head)
    assert read.endswith(tail)
    assert len(read) < 1_000_000


def test_link_is_not_followed(layout, tmp_path):
    (tmp_path / "secret").write_text("secret")
    layout.log("C4").symlink_to(tmp_path / "secret")
    assert logs(layout) == {Level.C4: ""}
