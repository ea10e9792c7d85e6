"""The text of a conversation in OpenAI Chat Completions."""

from collections.abc import Iterator
from typing import Final

from reb_action.documents import Json
from reb_action.gateway.conversation.content import AnswerContent, ContentRules, Message, flatten
from reb_action.gateway.json_text import get_count, get_list, get_text, get_value

_REASONING: Final = ("reasoning_content", "reasoning")


def _read_answer(value: Json, content: AnswerContent) -> None:
    for choice in get_list(value, "choices"):
        # A whole answer has `message`, an event has `delta`.
        for key in ("message", "delta"):
            _read_part(get_value(choice, key), content)


def _read_part(part: Json, content: AnswerContent) -> None:
    content.add_text("0", flatten(get_value(part, "content")))
    content.add_reasoning("0", next(filter(None, (get_text(part, key) for key in _REASONING)), ""))
    for number, call in enumerate(get_list(part, "tool_calls")):
        index = get_count(call, "index")
        content.add_call(
            str(number if index is None else index),
            call_id=get_text(call, "id"),
            name=get_text(call, "function", "name"),
            arguments=get_text(call, "function", "arguments"),
        )


def _read_messages(value: Json) -> tuple[Message, ...]:
    messages = get_list(value, "messages")
    first = len(messages)
    while first and get_text(messages[first - 1], "role") != "assistant":
        first -= 1
    return tuple(_messages(messages[first:]))


def _messages(messages: list[Json]) -> Iterator[Message]:
    for message in messages:
        text = flatten(get_value(message, "content"))
        if get_text(message, "role") == "tool":
            yield Message(text=text, call=get_text(message, "tool_call_id"))
        elif get_text(message, "role") == "user" and text:
            yield Message(text=text)


CONTENT: Final = ContentRules(read_answer=_read_answer, read_messages=_read_messages)
