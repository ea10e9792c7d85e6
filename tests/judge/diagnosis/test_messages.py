"""How right the diagnoses are, on labelled public messages.

The rules are written against the development part; the held-out third only measures them.
`python -m pytest tests/judge/diagnosis/test_messages.py -s` prints the figures.
"""

import sys
from collections import Counter
from collections.abc import Sequence

import pytest

from reb_action.judge.diagnosis import Cause, diagnose
from tests.judge.diagnosis.labelled import Message, read_later_messages, read_messages

MESSAGES = read_messages()
HELD_OUT = tuple(message for message in MESSAGES if message.held_out)
DEVELOPMENT = tuple(message for message in MESSAGES if not message.held_out)


def test_messages_are_many_and_every_cause_is_in_both_parts():
    assert len(MESSAGES) >= 220
    assert {message.cause for message in DEVELOPMENT} == {*Cause, None}
    assert {message.cause for message in HELD_OUT} == {*Cause, None}


def test_messages_are_distinct():
    seen = Counter((message.text, message.facts) for message in MESSAGES)
    assert [text for text, count in seen.items() if count > 1] == []


@pytest.mark.parametrize("part", [DEVELOPMENT, HELD_OUT], ids=["development", "held-out"])
def test_diagnoses_are_precise_and_cover_most_messages(part):
    precision, coverage = _precision(part), _coverage(part)
    figures = f"{len(part)} messages: precision {precision:.3f}, coverage {coverage:.3f}"
    sys.stdout.write(f"\n{figures}\n")
    assert precision >= 0.95, _confusion(part)
    assert coverage >= 0.85, _confusion(part)


def test_kinds_that_were_missed_once_are_found():
    messages = read_later_messages("kinds")
    assert _precision(messages) >= 0.95, _confusion(messages)
    assert _coverage(messages) >= 0.90, _confusion(messages)


def test_blind_messages_are_diagnosed_as_precisely_as_measured():
    messages = read_later_messages("blind")
    table = _confusion(messages)
    precision, coverage = _precision(messages), _coverage(messages)
    sys.stdout.write(f"\nblind: precision {precision:.3f}, coverage {coverage:.3f}\n{table}\n")
    # What was measured, rounded down; nothing was changed in the rules afterwards.
    assert precision >= 0.96, table
    assert coverage >= 0.63, table


def test_nothing_is_diagnosed_when_nothing_failed():
    wrong = [
        message.source
        for message in MESSAGES
        if message.cause is None and _found(message) is not None
    ]
    assert wrong == []


def _found(message: Message) -> Cause | None:
    diagnosis = diagnose(message.text, message.facts)
    return None if diagnosis is None else diagnosis.cause


def _precision(messages: Sequence[Message]) -> float:
    """Of the messages that get a cause, the share that get the right one."""
    told = [message for message in messages if _found(message) is not None]
    return sum(_found(message) == message.cause for message in told) / len(told)


def _coverage(messages: Sequence[Message]) -> float:
    """Of the messages that have a cause, the share that get it."""
    caused = [message for message in messages if message.cause is not None]
    return sum(_found(message) == message.cause for message in caused) / len(caused)


def _confusion(messages: Sequence[Message]) -> str:
    wrong = Counter(
        (str(message.cause), str(_found(message)), message.source)
        for message in messages
        if _found(message) != message.cause
    )
    lines = (f"{cause} -> {found}: {source}" for cause, found, source in sorted(wrong))
    return "\n".join(("labelled -> diagnosed: source", *lines))
