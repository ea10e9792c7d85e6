"""Gemini CLI's `stream-json`: its output tokens leave the thoughts out, its total has them.

`result` closes the stream, also after an error. It does not report the number of model calls.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from reb_action.agents.parsers.events import Event, child, count, iso, last, lines, text
from reb_action.agents.parsers.steps import Call, Reading, Speaker, Step, answered, calls_of
from reb_action.model.agent import Account, Ending, Usage


def read(folder: Path) -> Reading:
    """Read the events on standard output."""
    events = tuple(lines(folder / "stdout"))
    results = {
        text(event, "tool_id") or "": text(event, "output") or ""
        for event in events
        if event.get("type") == "tool_result"
    }
    spoken = answered(_steps(events), results)
    closing = last(events, "result")
    ending, detail = _ended(closing, text(last(events, "error"), "message") or "")
    usage = _usage(child(closing, "stats"), tool_calls=calls_of(spoken))
    return Reading(
        account=Account(ending=ending, detail=detail, usage=usage),
        steps=spoken,
    )


def _ended(closing: Event, warning: str) -> tuple[Ending | None, str | None]:
    if not closing:
        return None, None
    if closing.get("status") == "success":
        stopped = warning.startswith("Loop detected")
        return (Ending.LIMIT, f"it stopped: {warning[:300]}") if stopped else (Ending.DONE, None)
    error = child(closing, "error")
    kind, said = text(error, "type") or "", (text(error, "message") or "no reason is given")[:300]
    if "MaxSessionTurns" in kind or "TurnLimit" in kind:
        return Ending.LIMIT, f"it stopped: {said}"
    return Ending.MODEL_ERROR, f"it ended with an error: {said}"


def _steps(events: Iterable[Event]) -> Iterator[Step]:
    """Yield the conversation; a message comes in parts, and its tool calls follow it."""
    said: list[str] = []
    for event in events:
        kind, role = event.get("type"), event.get("role")
        if kind == "message" and role == "assistant":
            said.append(text(event, "content") or "")
            continue
        calls = (_call(event),) if kind == "tool_use" else ()
        if said or calls:
            yield Step(
                speaker=Speaker.AGENT,
                message="".join(said),
                calls=calls,
                time=iso(event.get("timestamp")),
            )
            said = []
        if kind == "message" and role == "user":
            message = text(event, "content") or ""
            yield Step(speaker=Speaker.USER, message=message, time=iso(event.get("timestamp")))
    if said:
        yield Step(speaker=Speaker.AGENT, message="".join(said))


def _call(event: Event) -> Call:
    return Call(
        id=text(event, "tool_id") or "",
        tool=text(event, "tool_name") or "",
        arguments=dict(child(event, "parameters")),
    )


def _usage(stats: Event, *, tool_calls: int) -> Usage | None:
    if not stats:
        return None
    given, whole = count(stats, "input_tokens"), count(stats, "total_tokens")
    return Usage(
        input_tokens=given,
        cache_read_tokens=count(stats, "cached"),
        output_tokens=None if whole is None or given is None else max(whole - given, 0),
        tool_calls=tool_calls,
    )
