"""The text of a conversation in OpenAI Responses."""

from collections.abc import Iterator
from typing import Final

from reb_action.documents import Json
from reb_action.gateway.conversation.content import AnswerContent, ContentRules, Message, flatten
from reb_action.gateway.json_text import encode_json, get_list, get_text, get_value

_ARGUMENTS: Final = ("arguments", "input")


def _read_answer(value: Json, content: AnswerContent) -> None:
    event = get_text(value, "type")
    if event == "response.output_item.done":
        _read_item(str(get_value(value, "output_index")), get_value(value, "item"), content)
    elif event in ("response.completed", "response.incomplete", "response.failed"):
        _read_items(get_list(value, "response", "output"), content)
    elif get_text(value, "object") == "response":
        _read_items(get_list(value, "output"), content)


def _read_items(items: list[Json], content: AnswerContent) -> None:
    for index, item in enumerate(items):
        _read_item(str(index), item, content)


def _read_item(index: str, item: Json, content: AnswerContent) -> None:
    # The last event of a stream repeats all items.
    if index in content.texts or index in content.reasoning or index in content.calls:
        return
    kind = get_text(item, "type")
    if kind == "message":
        content.add_text(index, flatten(get_value(item, "content")))
    elif kind == "reasoning":
        parts = get_list(item, "summary") or get_list(item, "content")
        content.add_reasoning(index, flatten(list(parts)))
    elif kind.endswith("_call"):
        text = next(filter(None, (get_text(item, key) for key in _ARGUMENTS)), "")
        action = get_value(item, "action")
        content.add_call(
            index,
            call_id=get_text(item, "call_id") or get_text(item, "id"),
            name=get_text(item, "name") or kind,
            arguments=text or (encode_json(action).decode() if action else ""),
        )


def _read_messages(value: Json) -> tuple[Message, ...]:
    given = get_value(value, "input")
    if isinstance(given, str):
        return (Message(text=given),)
    items = get_list(value, "input")
    first = len(items)
    while first and _is_new(items[first - 1]):
        first -= 1
    return tuple(_messages(items[first:]))


def _is_new(item: Json) -> bool:
    return get_text(item, "type").endswith("_output") or get_text(item, "role") in (
        *("user", "developer", "system"),
    )


def _messages(items: list[Json]) -> Iterator[Message]:
    for item in items:
        if get_text(item, "type").endswith("_output"):
            yield Message(text=flatten(get_value(item, "output")), call=get_text(item, "call_id"))
        elif get_text(item, "role") == "user" and (text := flatten(get_value(item, "content"))):
            yield Message(text=text)


CONTENT: Final = ContentRules(read_answer=_read_answer, read_messages=_read_messages)
