"""Anthropic Messages: https://docs.claude.com/en/api/messages."""

import re
from collections.abc import Mapping
from typing import Final

from reb_action.documents import Json
from reb_action.gateway.dialects.rules import DialectRules, Route, get_bearer
from reb_action.gateway.json_text import encode_json, get_count, get_list, get_text, get_value
from reb_action.gateway.upstream.usage import AnswerSummary, TokenCounts

_ERROR_TYPES: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
}
_TOOL_BLOCKS: Final = ("tool_use", "server_tool_use", "mcp_tool_use")


def _get_key(headers: Mapping[str, str], _query: Mapping[str, str]) -> str:
    return headers.get("x-api-key") or get_bearer(headers)


def _key_headers(key: str) -> Mapping[str, str]:
    return {"x-api-key": key}


def _build_error(status: int, message: str) -> Json:
    error_type = _ERROR_TYPES.get(status, "api_error")
    return {"type": "error", "error": {"type": error_type, "message": message}}


def _read_answer(value: Json, summary: AnswerSummary) -> None:
    match get_text(value, "type"):
        case "message":
            _read_usage(get_value(value, "usage"), summary)
            for index, block in enumerate(get_list(value, "content")):
                _start_block(str(index), block, summary)
            summary.ended = True
        case "message_start":
            _read_usage(get_value(value, "message", "usage"), summary)
        case "message_delta":
            _read_usage(get_value(value, "usage"), summary)
        case "content_block_start":
            index = str(get_value(value, "index"))
            _start_block(index, get_value(value, "content_block"), summary)
        case "content_block_delta":
            index = str(get_value(value, "index"))
            if index in summary.tool_calls:
                summary.add_tool_text(index, get_text(value, "delta", "partial_json"))
        case "message_stop":
            summary.ended = True
        case "error":
            summary.error = get_text(value, "error", "message") or "error within the answer"
        case _:
            pass


def _start_block(index: str, block: Json, summary: AnswerSummary) -> None:
    if get_text(block, "type") in _TOOL_BLOCKS:
        arguments = get_value(block, "input")
        # In a stream the arguments are empty here and follow as deltas.
        text = encode_json(arguments).decode() if arguments else ""
        summary.add_tool_text(index, get_text(block, "name") + text)


def _read_usage(usage: Json, summary: AnswerSummary) -> None:
    summary.update_tokens(
        TokenCounts(
            cache_read=get_count(usage, "cache_read_input_tokens"),
            cache_write=get_count(usage, "cache_creation_input_tokens"),
            cache_write_long=get_count(usage, "cache_creation", "ephemeral_1h_input_tokens"),
            output=get_count(usage, "output_tokens"),
        )
    )
    uncached = get_count(usage, "input_tokens")
    if uncached is not None:
        cached = (summary.tokens.cache_read or 0) + (summary.tokens.cache_write or 0)
        summary.update_tokens(TokenCounts(input=uncached + cached))


ANTHROPIC: Final = DialectRules(
    routes=(
        Route(path=re.compile(r"/v1/messages")),
        Route(path=re.compile(r"/v1/messages/count_tokens"), generates=False),
    ),
    headers=frozenset({"anthropic-version", "anthropic-beta"}),
    query={"beta": frozenset({"true"})},
    get_key=_get_key,
    key_headers=_key_headers,
    build_error=_build_error,
    read_answer=_read_answer,
)
