"""Claude Code's `stream-json`; its input tokens exclude the cache.

`result` closes the stream, also after an error of the model: it then has `is_error` and the subtype
`success`. The usage of a single message is its usage at the start of the message only.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Final

from reb_action.agents.parsers.events import (
    Event,
    amount,
    child,
    children,
    count,
    flat,
    iso,
    last,
    lines,
    plus,
    text,
)
from reb_action.agents.parsers.steps import (
    Call,
    Reading,
    Speaker,
    Step,
    answered,
    calls_of,
    join_steps,
)
from reb_action.documents import Json
from reb_action.model.agent import Account, Ending, Usage

_LIMITS: Final = ("error_max_turns", "error_max_budget_usd")


def read(folder: Path) -> Reading:
    """Read the events on standard output."""
    events = tuple(lines(folder / "stdout"))
    spoken = answered(steps(events), results(events))
    closing = last(events, "result")
    ending, detail = ended(closing)
    return Reading(
        account=Account(
            ending=ending,
            detail=detail,
            usage=_usage(closing, tool_calls=calls_of(spoken)) if closing else None,
            version=next((text(one, "claude_code_version") for one in events if _init(one)), None),
        ),
        steps=spoken,
    )


def ended(closing: Event) -> tuple[Ending | None, str | None]:
    """Return how the run ended by its `result`; other agents use the same format."""
    if not closing:
        return None, None
    subtype = text(closing, "subtype") or ""
    if subtype in _LIMITS:
        return Ending.LIMIT, f"it stopped with {subtype}"
    if closing.get("is_error") is not True:
        return Ending.DONE, None
    status = count(closing, "api_error_status")
    said = (text(closing, "result") or text(child(closing, "error"), "message") or subtype).strip()
    # Qwen Code's own.
    if said.startswith("Loop detection"):
        return Ending.LIMIT, f"it stopped: {said[:300]}"
    if status is not None or said.startswith(("[API Error", "API Error")):
        return Ending.MODEL_ERROR, f"its model failed: {said[:300]}"
    return Ending.CRASHED, f"it ended with an error: {said[:300]}"


def steps(events: Iterable[Event]) -> Iterator[Step]:
    """Yield the conversation, one step for each message of the model.

    A message comes in several events, one for each of its blocks, with the same id.
    """
    told = (event for event in events if event.get("type") in ("assistant", "user"))
    for (kind, name), group in groupby(told, _message_of):
        parts = tuple(group)
        if kind == "assistant" and name is not None:
            yield join_steps(*(_part(event) for event in parts))
            continue
        for event in parts:
            yield from _single(event)


def _message_of(event: Event) -> tuple[Json, str | None]:
    return event.get("type"), text(child(event, "message"), "id")


def _single(event: Event) -> Iterator[Step]:
    if event.get("type") == "assistant":
        yield _part(event)
    elif said := flat(child(event, "message").get("content")):
        yield Step(speaker=Speaker.USER, message=said, time=iso(event.get("timestamp")))


def _part(event: Event) -> Step:
    blocks = tuple(children(child(event, "message"), "content"))
    return Step(
        speaker=Speaker.AGENT,
        message=flat([dict(one) for one in blocks if one.get("type") == "text"]),
        reasoning="\n".join(filter(None, (text(one, "thinking") for one in blocks))) or None,
        calls=tuple(_call(one) for one in blocks if one.get("type") == "tool_use"),
        time=iso(event.get("timestamp")),
    )


def results(events: Iterable[Event]) -> dict[str, str]:
    """Return what tools answered, by the ids of their calls."""
    messages = (child(event, "message") for event in events if event.get("type") == "user")
    return {
        text(block, "tool_use_id") or "": flat(block.get("content"))
        for message in messages
        for block in children(message, "content")
        if block.get("type") == "tool_result"
    }


def _call(block: Event) -> Call:
    return Call(
        id=text(block, "id") or "",
        tool=text(block, "name") or "",
        arguments=dict(child(block, "input")),
    )


def _usage(closing: Event, *, tool_calls: int) -> Usage:
    used = child(closing, "usage")
    read_, written = (
        count(used, "cache_read_input_tokens"),
        count(used, "cache_creation_input_tokens"),
    )
    return Usage(
        input_tokens=plus(count(used, "input_tokens"), read_, written),
        cache_read_tokens=read_,
        cache_write_tokens=written,
        output_tokens=count(used, "output_tokens"),
        turns=count(closing, "num_turns"),
        tool_calls=tool_calls,
        cost_usd=_cost(closing),
    )


def _cost(closing: Event) -> float | None:
    """Return the cost, unless the price of a model was a guess."""
    models = child(closing, "modelUsage")
    if any(text(child(models, name), "costBasis") == "unknown" for name in models):
        return None
    return amount(closing, "total_cost_usd")


def _init(event: Event) -> bool:
    return event.get("type") == "system" and event.get("subtype") == "init"
