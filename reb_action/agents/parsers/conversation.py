"""The gateway's record of a conversation as steps: one for each call of the model."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from reb_action.agents.parsers.events import (
    Event,
    amount,
    arguments,
    children,
    count,
    iso,
    lines,
    text,
)
from reb_action.agents.parsers.steps import Call, Speaker, Step
from reb_action.model.agent import Usage

_COMPLETE: Final = ("whole", "left")


def read_steps(path: Path) -> tuple[Step, ...]:
    """Return the steps of a conversation.jsonl; empty if there is no such file."""
    conversation = _Conversation()
    for event in lines(path):
        conversation.add(event)
    return tuple(conversation.steps)


class _Conversation:
    """Puts results to the calls that they answer, which are in an earlier line."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._last_text: str | None = None

    def add(self, event: Event) -> None:
        for message in children(event, "messages"):
            name, said = text(message, "call"), text(message, "text") or ""
            left_out = count(message, "text_left_out") or 0
            if name is not None and self._answer(name, said, left_out):
                continue
            if said != self._last_text:
                # A repeated call has the same message.
                self._last_text = said
                step = Step(speaker=Speaker.USER, message=said, left_out=left_out)
                self.steps.append(replace(step, time=iso(event.get("time"))))
        self.steps.append(_step(event))

    def _answer(self, name: str, result: str, left_out: int) -> bool:
        """Give a result to the last call with this id or, without ids, to the first open one.

        Returns False for the result of a call that no answer made.
        """
        for index in range(len(self.steps) - 1, -1, -1):
            calls = list(self.steps[index].calls)
            number = next(_matches(calls, name), None)
            if number is None:
                continue
            if calls[number].result is None:
                calls[number] = replace(calls[number], result=result, left_out=left_out)
                self.steps[index] = replace(self.steps[index], calls=tuple(calls))
            return True
        return False


def _matches(calls: Sequence[Call], name: str) -> Iterator[int]:
    """Yield the calls that a result may answer, the best first."""
    for number, call in enumerate(calls):
        if call.id == name:
            yield number
    for number, call in enumerate(calls):
        if not call.id and call.tool == name and call.result is None:
            yield number


def _step(event: Event) -> Step:
    course = text(event, "course")
    calls = tuple(children(event, "calls"))
    error = text(event, "error")
    return Step(
        speaker=Speaker.AGENT,
        message=text(event, "text") or "",
        reasoning=text(event, "reasoning") or None,
        calls=tuple(_calls(calls)),
        usage=Usage(
            input_tokens=count(event, "input_tokens"),
            cache_read_tokens=count(event, "cache_read_tokens"),
            output_tokens=count(event, "output_tokens"),
            cost_usd=amount(event, "cost_usd"),
        ),
        time=iso(event.get("time")),
        model=text(event, "model"),
        seconds=amount(event, "seconds"),
        course=None if course in _COMPLETE else f"{course}: {error}" if error else course,
        left_out=_left_out(event, calls),
    )


def _calls(calls: Iterable[Event]) -> Iterator[Call]:
    for call in calls:
        written = text(call, "arguments") or ""
        yield Call(
            id=text(call, "id") or "",
            tool=text(call, "name") or "",
            arguments={} if written in ("", "{}") else arguments(written),
        )


def _left_out(event: Event, calls: Iterable[Event]) -> int:
    names = ("text_left_out", "reasoning_left_out", "answer_left_out")
    own = sum(count(event, name) or 0 for name in names)
    return own + sum(count(call, "arguments_left_out") or 0 for call in calls)
