"""NexAU's events, as our runner writes them: its input tokens leave the cache out.

`RUN_FINISHED` or `RUN_ERROR` closes the stream.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from reb_action.agents.parsers.events import (
    Event,
    arguments,
    child,
    count,
    last,
    lines,
    moment,
    text,
)
from reb_action.agents.parsers.steps import (
    Call,
    Reading,
    Speaker,
    Step,
    answered,
    beside_cache,
    of_answers,
)
from reb_action.model.agent import Ending, Usage

_TOO_LONG: Final = re.compile("maximum iteration", re.IGNORECASE)


def read(folder: Path) -> Reading:
    """Read the events on standard output."""
    events = tuple(lines(folder / "stdout"))
    results = {
        text(event, "tool_call_id") or "": text(event, "content") or ""
        for event in events
        if event.get("type") == "TOOL_CALL_RESULT"
    }
    spoken = answered(_steps(events), results)
    usages = [_usage(event) for event in events if event.get("type") == "USAGE_UPDATE"]
    return of_answers(spoken, usages, _ended(events))


def _ended(events: Sequence[Event]) -> tuple[Ending | None, str | None]:
    closing = last(events, "RUN_FINISHED", "RUN_ERROR")
    if not closing:
        return None, None
    said = (text(closing, "message") or text(closing, "result") or "").strip()[:300]
    if closing.get("type") == "RUN_ERROR":
        return Ending.MODEL_ERROR, f"it ended with an error: {said}"
    if _TOO_LONG.search(said):
        return Ending.LIMIT, f"it stopped: {said}"
    return Ending.DONE, None


def _steps(events: Iterable[Event]) -> Iterator[Step]:
    """Yield a step for each answer of the model, which comes in pieces."""
    said: list[str] = []
    names: dict[str, str] = {}
    pieces: dict[str, list[str]] = {}
    for event in events:
        kind, delta = event.get("type"), text(event, "delta") or ""
        if kind == "TEXT_MESSAGE_CONTENT":
            said.append(delta)
        elif kind == "TOOL_CALL_START":
            names[text(event, "tool_call_id") or ""] = text(event, "tool_call_name") or ""
        elif kind == "TOOL_CALL_ARGS":
            pieces.setdefault(text(event, "tool_call_id") or "", []).append(delta)
        elif kind == "USAGE_UPDATE":
            yield Step(
                speaker=Speaker.AGENT,
                message="".join(said),
                calls=tuple(_calls(names, pieces)),
                usage=_usage(event),
                time=moment(event.get("timestamp")),
            )
            said, names, pieces = [], {}, {}
    if said or names:
        calls = tuple(_calls(names, pieces))
        yield Step(speaker=Speaker.AGENT, message="".join(said), calls=calls)


def _calls(names: dict[str, str], pieces: dict[str, list[str]]) -> Iterator[Call]:
    for id_, name in names.items():
        yield Call(id=id_, tool=name, arguments=arguments("".join(pieces.get(id_, []))))


def _usage(event: Event) -> Usage:
    used = child(event, "usage")
    return beside_cache(
        fresh=count(used, "input_tokens_uncached"),
        read=count(used, "cache_read_tokens"),
        written=count(used, "cache_creation_tokens"),
        output=count(used, "completion_tokens"),
    )
