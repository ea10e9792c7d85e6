"""Whose fault it is: docs/faults.md says what the code does, cause by cause and fault by fault."""

import re
from pathlib import Path

import pytest

from reb_action.judge.faults import CAUSES, ENDINGS, OUTCOMES, find_party
from reb_action.model.agent import Ending
from reb_action.model.fault import FaultCause, Party
from tests.support.fault_rows import FAULTS

PAGE = (Path(__file__).parents[2] / "docs" / "faults.md").read_text(encoding="utf-8")


def table(name: str) -> list[list[str]]:
    """Return the rows of a table of the page, without its head."""
    text = re.search(rf"<!-- {name} -->\n(.*?)<!-- /{name} -->", PAGE, re.DOTALL)
    rows = [line.strip("| \n").split(" | ") for line in text[1].splitlines()]
    return [[cell.strip("` ") for cell in row] for row in rows[2:]]


ROWS = {row[1]: row for row in table("faults")}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_fault_is_reported_as_the_page_says(fault) -> None:
    group, _, _, now = ROWS[fault.name]
    assert (group, now) == (fault.group, fault.result())


def test_page_has_every_fault_once() -> None:
    assert [row[1] for row in table("faults")] == [fault.name for fault in FAULTS]
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) >= 40


def test_page_has_every_cause() -> None:
    rows = [(cause, rule.party, rule.words, rule.advice) for cause, rule in CAUSES.items()]
    assert [tuple(row) for row in table("causes")] == rows
    assert set(CAUSES) == set(FaultCause)


def test_page_has_every_ending() -> None:
    assert [tuple(row) for row in table("endings")] == list(ENDINGS.items())
    assert set(ENDINGS) == set(Ending)


def test_only_the_agent_has_results() -> None:
    assert {party for party in Party if OUTCOMES[party] is None} == {Party.AGENT}


@pytest.mark.parametrize("cause", FaultCause)
def test_agent_that_finished_has_recovered_from_every_cause(cause: FaultCause) -> None:
    assert find_party(Ending.DONE, cause) is Party.AGENT
