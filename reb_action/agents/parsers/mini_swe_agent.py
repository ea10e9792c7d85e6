"""mini-swe-agent's trajectory file; its printed output is for people.

The file holds each answer of the model as it came, in OpenAI's form: its input tokens include the
cache, its output tokens the reasoning.
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
    document,
    flat,
    moment,
    text,
)
from reb_action.agents.parsers.steps import Call, Reading, Speaker, Step, answered, of_answers
from reb_action.documents import Json
from reb_action.model.agent import Ending, Usage

_ENDINGS: Final = {
    "Submitted": Ending.DONE,
    "LimitsExceeded": Ending.LIMIT,
    "TimeExceeded": Ending.LIMIT,
    "RepeatedFormatError": Ending.GAVE_UP,
}
_SPEAKERS: Final = {"system": Speaker.SYSTEM, "user": Speaker.USER, "assistant": Speaker.AGENT}


def read(folder: Path) -> Reading:
    """Read `sessions/trajectory.json`."""
    whole = document(folder / "sessions" / "trajectory.json")
    info, messages = child(whole, "info"), tuple(children(whole, "messages"))
    results = {
        text(message, "tool_call_id") or "": flat(message.get("content"))
        for message in messages
        if message.get("role") == "tool"
    }
    spoken = answered(_steps(messages), results)
    usages = [_usage(message) for message in messages if _response(message)]
    ended = _ended(text(info, "exit_status"), whole)
    return of_answers(spoken, usages, ended, version=text(info, "mini_version"))


def _ended(status: str | None, whole: Event) -> tuple[Ending | None, str | None]:
    if status is None:
        return None, None
    ending = _ENDINGS.get(status, Ending.MODEL_ERROR if status.endswith("Error") else None)
    if ending is Ending.DONE:
        return ending, None
    said = (text(child(whole, "info"), "exception_str") or "").strip()[:300]
    return ending or Ending.CRASHED, f"it ended with {status}" + (f": {said}" if said else "")


def _steps(messages: Iterable[Event]) -> Iterator[Step]:
    for message in messages:
        speaker = _SPEAKERS.get(text(message, "role") or "")
        if speaker is None:
            continue
        usage = _usage(message) if _response(message) else None
        time = moment(_milliseconds(child(message, "extra").get("timestamp")))
        # An answer that it could not use stands within the complaint about it.
        if usage is not None and speaker is not Speaker.AGENT:
            choices = tuple(children(_response(message), "choices"))
            said = flat(child(choices[0], "message").get("content")) if choices else ""
            yield Step(speaker=Speaker.AGENT, message=said, usage=usage)
            usage = None
        yield Step(
            speaker=speaker,
            message=flat(message.get("content")),
            calls=tuple(_call(call) for call in children(message, "tool_calls")),
            usage=usage,
            time=time,
        )


def _call(call: Event) -> Call:
    function = child(call, "function")
    return Call(
        id=text(call, "id") or "",
        tool=text(function, "name") or "",
        arguments=arguments(text(function, "arguments") or ""),
    )


def _response(message: Event) -> Event:
    return child(message, "extra", "response")


def _usage(message: Event) -> Usage:
    used = child(_response(message), "usage")
    return Usage(
        input_tokens=count(used, "prompt_tokens"),
        cache_read_tokens=count(child(used, "prompt_tokens_details"), "cached_tokens"),
        output_tokens=count(used, "completion_tokens"),
    )


def _milliseconds(seconds: Json) -> Json:
    return seconds * 1000 if isinstance(seconds, int | float) else None
