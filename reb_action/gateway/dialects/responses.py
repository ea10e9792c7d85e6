"""OpenAI Responses: https://platform.openai.com/docs/api-reference/responses."""

import re
from typing import Final

from reb_action.documents import Json
from reb_action.gateway.dialects import openai
from reb_action.gateway.dialects.rules import Route, Rules
from reb_action.gateway.json_text import at, count, dumps, items, text
from reb_action.gateway.upstream.usage import Reading, Spent

_CALLS: Final = ("function_call", "custom_tool_call", "local_shell_call", "shell_call", "mcp_call")


def _read(value: Json, reading: Reading) -> None:
    kind = text(value, "type")
    if kind == "response.output_item.done":
        _item(str(at(value, "output_index")), at(value, "item"), reading)
    elif kind in ("response.completed", "response.incomplete", "response.failed"):
        _whole(at(value, "response"), reading)
    elif kind == "error":
        reading.error = text(value, "message") or "an error within the answer"
    elif text(value, "object") == "response":
        _whole(value, reading)


def _whole(response: Json, reading: Reading) -> None:
    for place, item in enumerate(items(response, "output")):
        _item(str(place), item, reading)
    usage = at(response, "usage")
    reading.uses(
        Spent(
            input=count(usage, "input_tokens"),
            cache_read=count(usage, "input_tokens_details", "cached_tokens"),
            cache_write=count(usage, "input_tokens_details", "cache_write_tokens"),
            output=count(usage, "output_tokens"),
        )
    )
    if at(response, "error") is not None:
        reading.error = text(response, "error", "message") or "an error within the answer"
    reading.ended = True


def _item(place: str, item: Json, reading: Reading) -> None:
    if text(item, "type") in _CALLS:
        action = at(item, "action")
        said = text(item, "arguments") + text(item, "input")
        # The end of a stream repeats each item, hence no addition.
        reading.tools[place] = (
            text(item, "name") + said + (dumps(action).decode() if action else "")
        )


RESPONSES: Final = Rules(
    routes=(Route(path=re.compile(r"/v1/responses"), prefix="/v1"),),
    headers=frozenset({"openai-beta"}),
    key_of=openai.key_of,
    key_headers=openai.key_headers,
    error=openai.error,
    read=_read,
)
