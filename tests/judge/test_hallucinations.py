"""The paper's C5 count, compared with the majority of its own validators in each situation."""

import re
from pathlib import Path

import pytest

from reb_action.judge.judge import judge
from reb_action.model.manifest import Level, Outcome
from reb_action.model.verdict import ClaimKind
from tests.support.audited import read_situations

SITUATIONS = read_situations()
DIFFERENT = [one for one in SITUATIONS if one.why is not None]
PAGE = Path(__file__).parents[2] / "docs" / "c5.md"


@pytest.mark.parametrize("situation", SITUATIONS, ids=[one.name for one in SITUATIONS])
def test_count_is_that_of_the_validators_unless_a_reason_is_given(situation):
    verdict = judge(situation.seen)
    counts = tuple(map(verdict.audit.hallucinations, ClaimKind))
    assert counts == (situation.ours or situation.reference)
    readable = situation.readable or situation.why is not None
    fails = any(counts) or not readable
    assert verdict.result(Level.C5).paper is (Outcome.FAILED if fails else Outcome.PASSED)
    assert (situation.ours is None) == (situation.why is None)


def test_differences_are_those_of_the_documentation():
    page = PAGE.read_text(encoding="utf-8")
    table = page.partition("| situation | validators | ours | which is right, and why |")[2]
    rows = re.findall(r"^\| (.+?) \| (.+?) \| (.+?) \| (.+?) \|$", table, re.MULTILINE)
    assert rows == [(one.name, _cell(one), _sum(one.ours), one.why) for one in DIFFERENT]


def test_figures_are_those_of_the_documentation():
    same = len(SITUATIONS) - len(DIFFERENT)
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert f"has {len(SITUATIONS)} situations with the answer" in text
    assert f"Our paper count is the same in {same}." in text
    assert len({one.name for one in SITUATIONS}) == len(SITUATIONS)


def _cell(situation):
    counts = _sum(situation.reference) if situation.readable else "no count, failed"
    return f"{counts} ({situation.basis})"


def _sum(counts):
    return " + ".join(map(str, counts))
