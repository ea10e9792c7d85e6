"""Gemini generateContent: https://ai.google.dev/api/generate-content."""

import re
from collections.abc import Mapping
from typing import Final

from reb_action.documents import Json
from reb_action.gateway.dialects.rules import DialectRules, Route
from reb_action.gateway.json_text import encode_json, get_count, get_list, get_text, get_value
from reb_action.gateway.upstream.usage import AnswerSummary, TokenCounts

_MODEL: Final = r"/v1(?:beta|alpha)?/models/(?P<model>[A-Za-z0-9][A-Za-z0-9._-]*)"
_ERROR_STATUS: Final = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    504: "DEADLINE_EXCEEDED",
}


def _get_key(headers: Mapping[str, str], query: Mapping[str, str]) -> str:
    return headers.get("x-goog-api-key") or query.get("key", "")


def _key_headers(key: str) -> Mapping[str, str]:
    return {"x-goog-api-key": key}


def _build_error(status: int, message: str) -> Json:
    status_name = _ERROR_STATUS.get(status, "INTERNAL")
    return {"error": {"code": status, "message": message, "status": status_name}}


def _read_answer(value: Json, summary: AnswerSummary) -> None:
    # Without `alt=sse` a stream is a JSON array.
    for response in value if isinstance(value, list) else [value]:
        _read_response(response, summary)


def _read_response(value: Json, summary: AnswerSummary) -> None:
    for candidate in get_list(value, "candidates"):
        for part in get_list(candidate, "content", "parts"):
            call = get_value(part, "functionCall")
            if call is not None:
                text = get_text(call, "name") + encode_json(get_value(call, "args")).decode()
                summary.add_tool_text(str(len(summary.tool_calls)), text)
        summary.ended = summary.ended or get_value(candidate, "finishReason") is not None
    # A blocked prompt gets no candidate.
    is_blocked = get_value(value, "promptFeedback", "blockReason") is not None
    summary.ended = summary.ended or is_blocked
    if get_value(value, "error") is not None:
        summary.error = get_text(value, "error", "message") or "error within the answer"
    summary.update_tokens(_read_usage(get_value(value, "usageMetadata")))


def _read_usage(usage: Json) -> TokenCounts:
    output = _add(get_count(usage, "candidatesTokenCount"), get_count(usage, "thoughtsTokenCount"))
    prompt = _add(get_count(usage, "promptTokenCount"), get_count(usage, "toolUsePromptTokenCount"))
    total = get_count(usage, "totalTokenCount")
    if output is None and total is not None and prompt is not None:
        # An answer without candidates omits the count instead of reporting 0.
        output = max(total - prompt, 0)
    return TokenCounts(
        input=prompt, cache_read=get_count(usage, "cachedContentTokenCount"), output=output
    )


def _add(*counts: int | None) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


GEMINI: Final = DialectRules(
    routes=(
        Route(path=re.compile(rf"{_MODEL}:(?:generateContent|streamGenerateContent)")),
        Route(path=re.compile(rf"{_MODEL}:countTokens"), generates=False),
    ),
    # Selects a stream of events or a JSON array; the other values of `alt` are not JSON.
    query={"alt": frozenset({"sse", "json"})},
    get_key=_get_key,
    key_headers=_key_headers,
    build_error=_build_error,
    read_answer=_read_answer,
)
