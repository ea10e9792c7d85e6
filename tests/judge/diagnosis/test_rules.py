"""What every rule must hold to: bounded patterns, and a cause that is reached."""

import re

import pytest

from reb_action.judge.diagnosis import Cause
from reb_action.judge.diagnosis.rules import load_rules

UNBOUNDED = re.compile(r"(?<!\\)[*]|(?<!\\)[+](?!\])|\{\d*,\}")


def _outside_classes(pattern: str) -> str:
    return re.sub(r"\[(?:\\.|[^\]\\])*\]", "", pattern)


@pytest.mark.parametrize("rule", load_rules(), ids=lambda rule: f"{rule.cause}: {rule.source}")
def test_pattern_repeats_nothing_without_a_bound(rule):
    assert UNBOUNDED.findall(_outside_classes(rule.pattern.pattern)) == []


def test_every_cause_has_a_rule():
    assert {rule.cause for rule in load_rules()} == set(Cause)
