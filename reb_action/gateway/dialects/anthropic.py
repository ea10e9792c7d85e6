"""Anthropic Messages: https://docs.claude.com/en/api/messages."""

import re
from collections.abc import Mapping
from typing import Final

from reb_action.documents import Json
from reb_action.gateway.dialects.rules import DialectRules, Route, get_bearer
from reb_action.gateway.hosted_tools import HostedRules, split_typed_tools
from reb_action.gateway.json_text import encode_json, get_count, get_list, get_text, get_value
from reb_action.gateway.progress import Step
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
# Tools that the agent runs; tool_search looks through the request's own tools.
_CLIENT_TOOLS: Final = re.compile(r"custom|(?:bash|text_editor|computer|memory|tool_search)_.*")
_STEP_MESSAGES: Final = 2
_OWN_HOST: Final = "api.anthropic.com"
_BEARER_HOSTS: Final = ("openrouter.ai",)


def _get_key(headers: Mapping[str, str], _query: Mapping[str, str]) -> str:
    return headers.get("x-api-key") or get_bearer(headers)


def _key_headers(key: str, host: str) -> Mapping[str, str]:
    """Return the key as the host expects it; other hosts read one of both headers."""
    bearer = {"authorization": f"Bearer {key}"}
    if host == _OWN_HOST:
        return {"x-api-key": key}
    return bearer if host.endswith(_BEARER_HOSTS) else {"x-api-key": key, **bearer}


def _build_error(status: int, message: str) -> Json:
    error_type = _ERROR_TYPES.get(status, "api_error")
    return {"type": "error", "error": {"type": error_type, "message": message}}


def _read_answer(value: Json, summary: AnswerSummary) -> None:
    match get_text(value, "type"):
        case "message":
            summary.model = get_text(value, "model") or None
            _read_usage(get_value(value, "usage"), summary)
            for index, block in enumerate(get_list(value, "content")):
                _start_block(str(index), block, summary)
            summary.ended = True
        case "message_start":
            summary.model = get_text(value, "message", "model") or None
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
            summary.error = get_text(value, "error", "message") or "error in the answer"
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
            searches=get_count(usage, "server_tool_use", "web_search_requests"),
        )
    )
    uncached = get_count(usage, "input_tokens")
    if uncached is not None:
        cached = (summary.tokens.cache_read or 0) + (summary.tokens.cache_write or 0)
        summary.update_tokens(TokenCounts(input=uncached + cached))


def _read_max_output(value: Json) -> int | None:
    return get_count(value, "max_tokens")


def _read_step(value: Json) -> Step | None:
    messages = get_list(value, "messages")
    results = [
        get_value(block, "content")
        for block in get_list(messages[-1] if messages else None, "content")
        if get_text(block, "type") == "tool_result"
    ]
    if not results or len(messages) < _STEP_MESSAGES:
        return None
    calls = [
        block
        for block in get_list(messages[-2], "content")
        if get_text(block, "type") == "tool_use"
    ]
    return Step(
        names=tuple(get_text(call, "name") for call in calls),
        calls=encode_json([[get_text(c, "name"), get_value(c, "input")] for c in calls]).decode(),
        results=encode_json(results).decode(),
    )


def _split_tools(tools: list[Json]) -> tuple[list[Json], list[str]]:
    return split_typed_tools(tools, lambda kind: _CLIENT_TOOLS.fullmatch(kind) is not None)


def _find_content(part: dict[str, Json]) -> str | None:
    kind = get_text(part, "type")
    if kind == "container_upload":
        return kind
    is_remote = get_text(part, "source", "type") in ("url", "file")
    return f"{kind} address" if kind in ("image", "document") and is_remote else None


_HOSTED: Final = HostedRules(
    split_tools=_split_tools,
    fields=frozenset({"mcp_servers", "container"}),
    roots=("system", "messages"),
    find_content=_find_content,
    text_part=lambda text: {"type": "text", "text": text},
)


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
    read_max_output=_read_max_output,
    read_step=_read_step,
    hosted=_HOSTED,
)
