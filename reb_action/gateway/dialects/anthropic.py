"""Anthropic Messages: https://docs.claude.com/en/api/messages."""

import re
from collections.abc import Mapping
from typing import Final

from reb_action.documents import Json
from reb_action.gateway.dialects.rules import Route, Rules, bearer
from reb_action.gateway.json_text import at, count, dumps, items, text
from reb_action.gateway.upstream.usage import Reading, Spent

_KINDS: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
}
_TOOLS: Final = ("tool_use", "server_tool_use", "mcp_tool_use")


def _key_of(headers: Mapping[str, str], _query: Mapping[str, str]) -> str:
    return headers.get("x-api-key") or bearer(headers)


def _key_headers(key: str) -> Mapping[str, str]:
    return {"x-api-key": key}


def _error(status: int, message: str) -> Json:
    kind = _KINDS.get(status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": message}}


def _read(value: Json, reading: Reading) -> None:
    match text(value, "type"):
        case "message":
            _uses(at(value, "usage"), reading)
            for place, block in enumerate(items(value, "content")):
                _starts(str(place), block, reading)
            reading.ended = True
        case "message_start":
            _uses(at(value, "message", "usage"), reading)
        case "message_delta":
            _uses(at(value, "usage"), reading)
        case "content_block_start":
            _starts(str(at(value, "index")), at(value, "content_block"), reading)
        case "content_block_delta":
            place = str(at(value, "index"))
            if place in reading.tools:
                reading.calls(place, text(value, "delta", "partial_json"))
        case "message_stop":
            reading.ended = True
        case "error":
            reading.error = text(value, "error", "message") or "an error within the answer"
        case _:
            pass


def _starts(place: str, block: Json, reading: Reading) -> None:
    if text(block, "type") in _TOOLS:
        given = at(block, "input")
        # A stream starts each call with empty arguments and brings them in pieces.
        reading.calls(place, text(block, "name") + (dumps(given).decode() if given else ""))


def _uses(usage: Json, reading: Reading) -> None:
    read = count(usage, "cache_read_input_tokens")
    write = count(usage, "cache_creation_input_tokens")
    long = count(usage, "cache_creation", "ephemeral_1h_input_tokens")
    reading.uses(Spent(cache_read=read, cache_write=write, cache_write_long=long))
    reading.uses(Spent(output=count(usage, "output_tokens")))
    fresh = count(usage, "input_tokens")
    if fresh is not None:
        cached = (reading.spent.cache_read or 0) + (reading.spent.cache_write or 0)
        reading.uses(Spent(input=fresh + cached))


ANTHROPIC: Final = Rules(
    routes=(
        Route(path=re.compile(r"/v1/messages")),
        Route(path=re.compile(r"/v1/messages/count_tokens"), generates=False),
    ),
    headers=frozenset({"anthropic-version", "anthropic-beta"}),
    query={"beta": frozenset({"true"})},
    key_of=_key_of,
    key_headers=_key_headers,
    error=_error,
    read=_read,
)
