"""Codex's own files of a session, `rollout-*.jsonl`: one step for each call of the model.

A `token_usage_record` follows the items of each answer; results of tools come after it.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from reb_action.agents.parsers.events import (
    Event,
    arguments,
    child,
    children,
    count,
    flat,
    iso,
    lines,
    text,
)
from reb_action.agents.parsers.steps import Call, Speaker, Step, answered, join_steps
from reb_action.model.agent import Usage

_PATTERN: Final = "sessions/**/rollout-*.jsonl"
_CALLS: Final = ("function_call", "custom_tool_call", "local_shell_call", "web_search_call")
_RESULTS: Final = ("function_call_output", "custom_tool_call_output")


def read_session(folder: Path) -> tuple[Step, ...]:
    """Return the steps of all sessions of a trajectory's folder; empty without such files."""
    files = (path for path in sorted(folder.glob(_PATTERN)) if path.is_file())
    events = tuple(event for path in files for event in lines(path))
    items = (child(event, "payload") for event in events if event.get("type") == "response_item")
    results = {
        text(item, "call_id") or "": flat(item.get("output"))
        for item in items
        if text(item, "type") in _RESULTS
    }
    return answered(_turns(events), results)


def read_usage(used: Event) -> Usage:
    """Return what one answer, or a whole run, used."""
    return Usage(
        input_tokens=count(used, "input_tokens"),
        cache_read_tokens=count(used, "cached_input_tokens"),
        cache_write_tokens=count(used, "cache_write_input_tokens") or None,
        output_tokens=count(used, "output_tokens"),
    )


def _turns(events: Iterable[Event]) -> Iterator[Step]:
    parts: list[Step] = []
    for event in events:
        payload, time = child(event, "payload"), iso(event.get("timestamp"))
        kind = event.get("type")
        if kind == "response_item":
            parts += _parts(payload, time)
        elif kind == "token_usage_record":
            usage = read_usage(child(payload, "usage"))
            yield join_steps(
                *parts, Step(speaker=Speaker.AGENT, usage=usage, time=None if parts else time)
            )
            parts = []
    if parts:
        # The answer that was interrupted has no record of its usage.
        yield join_steps(*parts)


def _parts(item: Event, time: str | None) -> Iterator[Step]:
    kind = text(item, "type")
    if kind == "message" and item.get("role") == "assistant":
        yield Step(speaker=Speaker.AGENT, message=flat(item.get("content")), time=time)
    elif kind == "reasoning":
        said = "\n".join(text(part, "text") or "" for part in children(item, "summary"))
        yield Step(speaker=Speaker.AGENT, reasoning=said or None, time=time)
    elif kind in _CALLS:
        yield Step(speaker=Speaker.AGENT, calls=(_call(kind, item),), time=time)


def _call(kind: str, item: Event) -> Call:
    written = text(item, "arguments") or text(item, "input")
    return Call(
        id=text(item, "call_id") or "",
        tool=text(item, "name") or kind,
        arguments=dict(child(item, "action")) if written is None else arguments(written),
    )
