"""Codex's `exec --json`: one turn, closed by `turn.completed` or `turn.failed`.

Its input tokens include the cache, its output tokens the reasoning. An item of the type `error` is
a warning. Only the files of its session have the number of model calls.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from reb_action.agents.parsers.codex_session import read_session, read_usage
from reb_action.agents.parsers.events import Event, child, count, last, lines, text
from reb_action.agents.parsers.steps import (
    Call,
    Reading,
    Speaker,
    Step,
    calls_of,
    join_texts,
    of_answers,
)
from reb_action.model.agent import Account, Ending


def read(folder: Path) -> Reading:
    """Read the events on standard output, and the files of its session for single turns."""
    events = tuple(lines(folder / "stdout"))
    told, session = tuple(_steps(events)), read_session(folder)
    ended = _ended(events)
    used = child(last(events, "turn.completed"), "usage")
    answers = [step.usage for step in session if step.usage is not None]
    if not used:
        # Killed before its only event of usage, or failed.
        return of_answers(session or tuple(join_texts(told)), answers, ended)
    usage = replace(read_usage(used), turns=len(answers) or None, tool_calls=calls_of(told))
    account = Account(ending=ended[0], detail=ended[1], usage=usage)
    return Reading(account=account, steps=session or tuple(join_texts(told)))


def _ended(events: Sequence[Event]) -> tuple[Ending | None, str | None]:
    closing = last(events, "turn.completed", "turn.failed")
    if closing.get("type") == "turn.completed":
        return Ending.DONE, None
    if not closing:
        return None, None
    said = (text(child(closing, "error"), "message") or "no reason is given").strip()
    return Ending.MODEL_ERROR, f"its turn failed: {said[:300]}"


def _steps(events: Iterable[Event]) -> Iterator[Step]:
    for event in events:
        item = child(event, "item")
        if event.get("type") != "item.completed":
            continue
        kind = text(item, "type")
        if kind == "agent_message":
            yield Step(speaker=Speaker.AGENT, message=text(item, "text") or "")
        elif kind == "reasoning":
            yield Step(speaker=Speaker.AGENT, reasoning=text(item, "text") or "")
        elif kind not in (None, "error"):
            yield Step(speaker=Speaker.AGENT, calls=(_call(kind, item),))


def _call(kind: str, item: Event) -> Call:
    """Return the tool calls; commands have a result, changes of files and similar have none."""
    told = ("id", "type", "status", "aggregated_output", "exit_code")
    output, code = text(item, "aggregated_output"), count(item, "exit_code")
    result = output if code is None else f"{output or ''}\n[exit code {code}]".lstrip()
    return Call(
        id=text(item, "id") or "",
        tool=kind,
        arguments={name: value for name, value in item.items() if name not in told},
        result=result,
    )
