"""The run of an agent turn by turn, as the page of a trial shows it, from its trajectory (ATIF)."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from reb_action.documents import Json
from reb_action.render.quantities import amount, dollars, duration
from reb_action.render.turn_lines import first_line

TURNS: Final = 300
"""The most turns on a page; the rest is counted, and is in trajectory.json."""
_TEXT: Final = 3000
_TAIL: Final = 1000
_LINES: Final = 50
_HEAD_LINES: Final = 20
_TAIL_LINES: Final = 25


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolUse:
    """A tool call of a turn, and its result; `title` is the first line of its command."""

    tool: str
    title: str
    arguments: str
    result: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnView:
    """A turn: its source, its time, its usage in words, its text and actions, its gaps."""

    number: int
    source: str
    time: str
    used: str
    message: str
    reasoning: str
    calls: tuple[ToolUse, ...]
    loss: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Timeline:
    """The turns of a run, how many more there are, and what the trajectory lacks."""

    turns: tuple[TurnView, ...]
    more: int
    notes: str


def build_timeline(document: Json) -> Timeline | None:
    """Return the timeline of a trajectory; None for anything else."""
    steps = _list(document, "steps")
    if not steps:
        return None
    return Timeline(
        turns=tuple(_turn(step) for step in steps[:TURNS]),
        more=max(0, len(steps) - TURNS),
        notes=_text(document, "notes"),
    )


def _turn(step: Json) -> TurnView:
    number = _value(step, "step_id")
    return TurnView(
        number=number if isinstance(number, int) else 0,
        source=_text(step, "source"),
        time=_text(step, "timestamp")[11:19],
        used=", ".join(_used(step)),
        message=_shorten(_text(step, "message")),
        reasoning=_shorten(_text(step, "reasoning_content")),
        calls=tuple(_calls(step)),
        loss=_text(step, "extra", "incomplete"),
    )


def _used(step: Json) -> Iterator[str]:
    seconds = _number(step, "extra", "seconds")
    tokens = [_number(step, "metrics", f"{name}_tokens") for name in ("prompt", "completion")]
    cost = _number(step, "metrics", "cost_usd")
    if seconds is not None:
        yield duration(seconds)
    if None not in tokens:
        yield f"{amount(sum(count or 0 for count in tokens))} tokens"
    if cost is not None:
        yield dollars(cost)


def _calls(step: Json) -> Iterator[ToolUse]:
    results = {
        _text(result, "source_call_id"): _text(result, "content")
        for result in _list(step, "observation", "results")
    }
    for call in _list(step, "tool_calls"):
        arguments = json.dumps(_value(call, "arguments") or {})
        result = results.get(_text(call, "tool_call_id"))
        yield ToolUse(
            tool=_text(call, "function_name"),
            title=first_line(arguments),
            arguments=_shorten(_readable(_value(call, "arguments"))),
            result=None if result is None else _shorten(result),
        )


def _readable(arguments: Json) -> str:
    """Return arguments with the line breaks of their texts, one below the other."""
    fields = arguments.items() if isinstance(arguments, dict) else ()
    return "\n".join(
        f"{name}: {value if isinstance(value, str) else json.dumps(value)}"
        for name, value in fields
    )


def _shorten(text: str) -> str:
    lines = text.split("\n")
    if len(text) <= _TEXT and len(lines) <= _LINES:
        return text
    head = "\n".join(lines[:_HEAD_LINES])[: _TEXT - _TAIL]
    rest = text[len(head) :]
    tail = "\n".join(rest.split("\n")[-_TAIL_LINES:])[-_TAIL:]
    left_out = len(rest) - len(tail)
    return f"{head}\n[{left_out:,} characters more in trajectory.json]\n{tail}"


def _value(value: Json, *keys: str) -> Json:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _text(value: Json, *keys: str) -> str:
    found = _value(value, *keys)
    return found if isinstance(found, str) else ""


def _list(value: Json, *keys: str) -> list[Json]:
    found = _value(value, *keys)
    return found if isinstance(found, list) else []


def _number(value: Json, *keys: str) -> float | None:
    found = _value(value, *keys)
    return float(found) if isinstance(found, int | float) else None
