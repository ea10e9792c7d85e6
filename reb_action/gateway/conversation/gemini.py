"""The text of a conversation in Gemini's generateContent."""

from collections.abc import Iterator
from typing import Final

from reb_action.documents import Json
from reb_action.gateway.conversation.content import AnswerContent, ContentRules, Message, flatten
from reb_action.gateway.json_text import encode_json, get_list, get_text, get_value


def _read_answer(value: Json, content: AnswerContent) -> None:
    # Without `alt=sse` a stream is a JSON array.
    for response in value if isinstance(value, list) else [value]:
        for candidate in get_list(response, "candidates"):
            for part in get_list(candidate, "content", "parts"):
                _read_part(part, content)


def _read_part(part: Json, content: AnswerContent) -> None:
    call = get_value(part, "functionCall")
    if call is not None:
        content.add_call(
            str(len(content.calls)),
            call_id=get_text(call, "id"),
            name=get_text(call, "name"),
            arguments=encode_json(get_value(call, "args") or {}).decode(),
        )
    elif get_value(part, "thought") is True:
        content.add_reasoning("0", get_text(part, "text"))
    else:
        content.add_text("0", get_text(part, "text"))


def _read_messages(value: Json) -> tuple[Message, ...]:
    contents = get_list(value, "contents")
    first = len(contents)
    while first and get_text(contents[first - 1], "role") != "model":
        first -= 1
    parts = (part for content in contents[first:] for part in get_list(content, "parts"))
    return tuple(message for part in parts for message in _messages(part))


def _messages(part: Json) -> Iterator[Message]:
    answer = get_value(part, "functionResponse")
    if answer is not None:
        name = get_text(answer, "id") or get_text(answer, "name")
        yield Message(text=_result(get_value(answer, "response")), call=name)
    elif text := get_text(part, "text"):
        yield Message(text=text)


def _result(response: Json) -> str:
    """Return the text of a tool's answer, which most tools give as `output`."""
    return get_text(response, "output") or get_text(response, "error") or flatten(response)


CONTENT: Final = ContentRules(read_answer=_read_answer, read_messages=_read_messages)
