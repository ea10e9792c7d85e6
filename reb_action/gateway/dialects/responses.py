"""OpenAI Responses: https://platform.openai.com/docs/api-reference/responses."""

import re
from typing import Final

from reb_action.documents import Json
from reb_action.gateway.dialects import openai
from reb_action.gateway.dialects.rules import DialectRules, Route
from reb_action.gateway.json_text import encode_json, get_count, get_list, get_text, get_value
from reb_action.gateway.upstream.usage import AnswerSummary, TokenCounts

_TOOL_ITEMS: Final = (
    *("function_call", "custom_tool_call", "local_shell_call", "shell_call", "mcp_call"),
)


def _read_answer(value: Json, summary: AnswerSummary) -> None:
    event = get_text(value, "type")
    if event == "response.output_item.done":
        _read_item(str(get_value(value, "output_index")), get_value(value, "item"), summary)
    elif event in ("response.completed", "response.incomplete", "response.failed"):
        _read_response(get_value(value, "response"), summary)
    elif event == "error":
        summary.error = get_text(value, "message") or "error within the answer"
    elif get_text(value, "object") == "response":
        _read_response(value, summary)


def _read_response(response: Json, summary: AnswerSummary) -> None:
    for index, item in enumerate(get_list(response, "output")):
        _read_item(str(index), item, summary)
    usage = get_value(response, "usage")
    summary.update_tokens(
        TokenCounts(
            input=get_count(usage, "input_tokens"),
            cache_read=get_count(usage, "input_tokens_details", "cached_tokens"),
            cache_write=get_count(usage, "input_tokens_details", "cache_write_tokens"),
            output=get_count(usage, "output_tokens"),
        )
    )
    if get_value(response, "error") is not None:
        summary.error = get_text(response, "error", "message") or "error within the answer"
    summary.ended = True


def _read_item(index: str, item: Json, summary: AnswerSummary) -> None:
    if get_text(item, "type") in _TOOL_ITEMS:
        action = get_value(item, "action")
        text = get_text(item, "name") + get_text(item, "arguments") + get_text(item, "input")
        # The last event of a stream repeats all items, so this replaces and does not append.
        summary.tool_calls[index] = text + (encode_json(action).decode() if action else "")


RESPONSES: Final = DialectRules(
    routes=(Route(path=re.compile(r"/v1/responses"), prefix="/v1"),),
    headers=frozenset({"openai-beta"}),
    get_key=openai.get_key,
    key_headers=openai.key_headers,
    build_error=openai.build_error,
    read_answer=_read_answer,
)
