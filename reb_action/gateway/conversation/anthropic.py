"""The text of a conversation in Anthropic Messages."""

from collections.abc import Iterator
from typing import Final

from reb_action.documents import Json
from reb_action.gateway.conversation.content import AnswerContent, ContentRules, Message, flatten
from reb_action.gateway.json_text import encode_json, get_list, get_text, get_value


def _read_answer(value: Json, content: AnswerContent) -> None:
    match get_text(value, "type"):
        case "message":
            for index, block in enumerate(get_list(value, "content")):
                _start_block(str(index), block, content)
        case "content_block_start":
            _start_block(str(get_value(value, "index")), get_value(value, "content_block"), content)
        case "content_block_delta":
            _add_delta(str(get_value(value, "index")), get_value(value, "delta"), content)
        case _:
            pass


def _start_block(index: str, block: Json, content: AnswerContent) -> None:
    kind = get_text(block, "type")
    if kind == "text":
        content.add_text(index, get_text(block, "text"))
    elif kind == "thinking":
        content.add_reasoning(index, get_text(block, "thinking"))
    elif kind.endswith("tool_use"):
        arguments = get_value(block, "input")
        # In a stream the arguments are empty here and follow as deltas.
        text = encode_json(arguments).decode() if arguments else ""
        name = get_text(block, "name")
        content.add_call(index, call_id=get_text(block, "id"), name=name, arguments=text)


def _add_delta(index: str, delta: Json, content: AnswerContent) -> None:
    match get_text(delta, "type"):
        case "text_delta":
            content.add_text(index, get_text(delta, "text"))
        case "thinking_delta":
            content.add_reasoning(index, get_text(delta, "thinking"))
        case "input_json_delta":
            content.add_call(index, arguments=get_text(delta, "partial_json"))
        case _:
            pass


def _read_messages(value: Json) -> tuple[Message, ...]:
    messages = get_list(value, "messages")
    first = len(messages)
    while first and get_text(messages[first - 1], "role") != "assistant":
        first -= 1
    return tuple(part for message in messages[first:] for part in _parts(message))


def _parts(message: Json) -> Iterator[Message]:
    content = get_value(message, "content")
    for block in content if isinstance(content, list) else [content]:
        if get_text(block, "type") == "tool_result":
            text = flatten(get_value(block, "content"))
            yield Message(text=text, call=get_text(block, "tool_use_id"))
        elif text := flatten([block]):
            yield Message(text=text)


CONTENT: Final = ContentRules(read_answer=_read_answer, read_messages=_read_messages)
