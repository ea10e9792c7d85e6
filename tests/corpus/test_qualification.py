"""A cell is qualified by the record of the very run that its manifest describes, and no other."""

from dataclasses import replace

import pytest

from reb_action import documents
from reb_action.corpus import qualification
from reb_action.model.limits import Limits
from reb_action.model.manifest import Framework, Level, Outcome
from reb_action.model.qualification import Control, Qualification
from tests.support.evidence import MANIFEST


def control(outcome):
    return Control(environment="some", outcome=outcome, reason="why")


def record(positive=Outcome.PASSED, negatives=(Outcome.FAILED,)):
    return Qualification(
        repository=MANIFEST.repository,
        commit=MANIFEST.commit,
        level=Level.C1,
        run=qualification.run_of(MANIFEST, Level.C1),
        date="2026-11-29",
        hardware="x86_64, no GPU",
        framework="2.13.0",
        positive=control(positive),
        negatives=tuple(map(control, negatives)),
    )


@pytest.fixture
def keep(tmp_path, monkeypatch):
    """Keep a record where those of the corpus are kept."""
    monkeypatch.setattr(qualification, "data_folder", lambda name: tmp_path / name)
    path = qualification.record_of(MANIFEST.repository, Level.C1)
    return lambda one: documents.write(path, one, kind="qualification")


def test_what_was_seen_is_qualified_and_nothing_else(keep):
    assert not qualification.is_qualified(MANIFEST, Level.C1)
    keep(record())
    levels = [level for level in Level if qualification.is_qualified(MANIFEST, level)]
    assert levels == [Level.C1]


@pytest.mark.parametrize(
    "change",
    [
        {"commit": "f" * 40},
        {"files": {"start.py": "pass"}},
        {"entrypoints": {Level.C1: replace(MANIFEST.entrypoints[Level.C1], timeout_seconds=7)}},
        {"entrypoints": {Level.C1: replace(MANIFEST.entrypoints[Level.C1], writes=("log.txt",))}},
        {"entrypoints": {}, "not_applicable": {Level.C1: "why"}},
        {"frameworks": ()},
        {"frameworks": (Framework.JAX,)},
    ],
    ids=[
        "commit",
        "files",
        "entry point",
        "tracked files it writes",
        "no entry point",
        "no framework",
        "framework",
    ],
)
def test_another_run_is_not_qualified_by_it(keep, change):
    keep(record())
    assert not qualification.is_qualified(replace(MANIFEST, **change), Level.C1)


@pytest.mark.parametrize(
    ("positive", "negatives", "wanted"),
    [
        (Outcome.PASSED, (Outcome.FAILED, Outcome.FAILED), True),
        (Outcome.FAILED, (Outcome.FAILED,), False),
        (Outcome.PASSED, (Outcome.FAILED, Outcome.PASSED), False),
        (Outcome.PASSED, (Outcome.BLOCKED,), False),
        (Outcome.PASSED, (), False),
    ],
    ids=["right", "never passed", "passed spoiled", "not built", "never spoiled"],
)
def test_a_record_holds_by_all_its_controls(positive, negatives, wanted):
    assert qualification.holds(record(positive, negatives)) is wanted


def test_record_of_another_run_is_not_found(keep):
    kept = replace(record(), left_out=("teaser.png",))
    keep(kept)
    assert qualification.find_record(MANIFEST, Level.C1) == kept
    assert qualification.find_record(replace(MANIFEST, commit="f" * 40), Level.C1) is None


@pytest.mark.parametrize(
    ("kept", "expected"),
    [
        (record(), {}),
        (replace(record(), limits=Limits(memory_mib=4096)), {Level.C1: Limits(memory_mib=4096)}),
        (replace(record(negatives=(Outcome.PASSED,)), limits=Limits()), {}),
    ],
    ids=["no limits", "qualified", "not qualified"],
)
def test_limits_are_those_of_qualified_levels(keep, kept, expected):
    keep(kept)
    assert qualification.find_limits(MANIFEST, (Level.C0, Level.C1)) == expected
