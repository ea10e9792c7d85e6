"""Gemini generateContent: https://ai.google.dev/api/generate-content."""

import re
from collections.abc import Mapping
from typing import Final

from reb_action.documents import Json
from reb_action.gateway.dialects.rules import Route, Rules
from reb_action.gateway.json_text import at, count, dumps, items, text
from reb_action.gateway.upstream.usage import Reading, Spent

_MODEL: Final = r"/v1(?:beta|alpha)?/models/(?P<model>[A-Za-z0-9][A-Za-z0-9._-]*)"
_STATUS: Final = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    504: "DEADLINE_EXCEEDED",
}


def _key_of(headers: Mapping[str, str], query: Mapping[str, str]) -> str:
    return headers.get("x-goog-api-key") or query.get("key", "")


def _key_headers(key: str) -> Mapping[str, str]:
    return {"x-goog-api-key": key}


def _error(status: int, message: str) -> Json:
    kind = _STATUS.get(status, "INTERNAL")
    return {"error": {"code": status, "message": message, "status": kind}}


def _read(value: Json, reading: Reading) -> None:
    # Without `alt=sse` a stream is one array.
    for part in value if isinstance(value, list) else [value]:
        _part(part, reading)


def _part(value: Json, reading: Reading) -> None:
    for candidate in items(value, "candidates"):
        for part in items(candidate, "content", "parts"):
            call = at(part, "functionCall")
            if call is not None:
                said = text(call, "name") + dumps(at(call, "args")).decode()
                reading.calls(str(len(reading.tools)), said)
        reading.ended = reading.ended or at(candidate, "finishReason") is not None
    # A prompt that is blocked gets no candidate.
    reading.ended = reading.ended or at(value, "promptFeedback", "blockReason") is not None
    if at(value, "error") is not None:
        reading.error = text(value, "error", "message") or "an error within the answer"
    reading.uses(_spent(at(value, "usageMetadata")))


def _spent(usage: Json) -> Spent:
    given = _sum(count(usage, "candidatesTokenCount"), count(usage, "thoughtsTokenCount"))
    taken = _sum(count(usage, "promptTokenCount"), count(usage, "toolUsePromptTokenCount"))
    total = count(usage, "totalTokenCount")
    if given is None and total is not None and taken is not None:
        # Without a candidate the number of its tokens is left out, not nought.
        given = max(total - taken, 0)
    return Spent(input=taken, cache_read=count(usage, "cachedContentTokenCount"), output=given)


def _sum(*counts: int | None) -> int | None:
    known = [one for one in counts if one is not None]
    return sum(known) if known else None


GEMINI: Final = Rules(
    routes=(
        Route(path=re.compile(rf"{_MODEL}:(?:generateContent|streamGenerateContent)")),
        Route(path=re.compile(rf"{_MODEL}:countTokens"), generates=False),
    ),
    # Whether a stream is one of events or an array; its other values are no JSON.
    query={"alt": frozenset({"sse", "json"})},
    key_of=_key_of,
    key_headers=_key_headers,
    error=_error,
    read=_read,
)
