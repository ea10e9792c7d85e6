"""Gemini generateContent: https://ai.google.dev/api/generate-content."""

import re
from collections.abc import Mapping
from typing import Final

from reb_action.documents import Json
from reb_action.gateway.dialects.rules import DialectRules, Route
from reb_action.gateway.hosted_tools import HostedRules
from reb_action.gateway.json_text import encode_json, get_count, get_list, get_text, get_value
from reb_action.gateway.progress import Step
from reb_action.gateway.upstream.usage import AnswerSummary, TokenCounts

_MODEL: Final = r"/v1(?:beta|alpha)?/models/(?P<model>[A-Za-z0-9][A-Za-z0-9._-]*)"
_CLIENT_TOOLS: Final = frozenset(
    {"functiondeclarations", "function_declarations", "computeruse", "computer_use"}
)
_STEP_CONTENTS: Final = 2
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


def _key_headers(key: str, _host: str) -> Mapping[str, str]:
    return {"x-goog-api-key": key}


def _build_error(status: int, message: str) -> Json:
    status_name = _ERROR_STATUS.get(status, "INTERNAL")
    return {"error": {"code": status, "message": message, "status": status_name}}


def _read_answer(value: Json, summary: AnswerSummary) -> None:
    # Without `alt=sse` a stream is a JSON array.
    for response in value if isinstance(value, list) else [value]:
        _read_response(response, summary)


def _read_response(value: Json, summary: AnswerSummary) -> None:
    summary.model = get_text(value, "modelVersion") or summary.model
    for candidate in get_list(value, "candidates"):
        for part in get_list(candidate, "content", "parts"):
            call = get_value(part, "functionCall")
            if call is not None:
                text = get_text(call, "name") + encode_json(get_value(call, "args")).decode()
                summary.add_tool_text(str(len(summary.tool_calls)), text)
        queries = get_list(candidate, "groundingMetadata", "webSearchQueries")
        summary.update_tokens(TokenCounts(searches=len(queries) or None))
        summary.ended = summary.ended or get_value(candidate, "finishReason") is not None
    # A blocked prompt gets no candidate.
    is_blocked = get_value(value, "promptFeedback", "blockReason") is not None
    summary.ended = summary.ended or is_blocked
    if get_value(value, "error") is not None:
        summary.error = get_text(value, "error", "message") or "error in the answer"
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


def _read_max_output(value: Json) -> int | None:
    limit = get_count(value, "generationConfig", "maxOutputTokens")
    return get_count(value, "generation_config", "max_output_tokens") if limit is None else limit


def _read_step(value: Json) -> Step | None:
    contents = get_list(value, "contents")
    if len(contents) < _STEP_CONTENTS:
        return None
    results = _get_parts(contents[-1], "functionResponse")
    calls = _get_parts(contents[-2], "functionCall")
    if not results or not calls:
        return None
    arguments = [[get_text(call, "name"), get_value(call, "args")] for call in calls]
    return Step(
        names=tuple(get_text(call, "name") for call in calls),
        calls=encode_json(arguments).decode(),
        results=encode_json([get_value(result, "response") for result in results]).decode(),
    )


def _get_parts(content: Json, key: str) -> list[Json]:
    parts = [get_value(part, key) for part in get_list(content, "parts")]
    return [part for part in parts if part is not None]


def _split_tools(tools: list[Json]) -> tuple[list[Json], list[str]]:
    """Split tools: each is an object whose keys are the kinds of tools that it offers."""
    kept: list[Json] = []
    names: list[str] = []
    for tool in tools:
        fields = tool if isinstance(tool, dict) else {}
        own = {key: value for key, value in fields.items() if key.lower() in _CLIENT_TOOLS}
        kept += [own] if own else []
        names += [key for key in fields if key not in own]
    return kept, names


def _find_content(part: dict[str, Json]) -> str | None:
    is_file = "fileData" in part or "file_data" in part
    return "file address" if is_file else None


_HOSTED: Final = HostedRules(
    split_tools=_split_tools,
    # Cached content can contain tools.
    fields=frozenset({"cachedcontent", "cached_content"}),
    roots=("contents", "systemInstruction", "system_instruction"),
    find_content=_find_content,
    text_part=lambda text: {"text": text},
)


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
    read_max_output=_read_max_output,
    read_step=_read_step,
    hosted=_HOSTED,
)
