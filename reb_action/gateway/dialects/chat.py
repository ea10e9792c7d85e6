"""OpenAI Chat Completions: https://platform.openai.com/docs/api-reference/chat."""

import re
from typing import Final

from reb_action.documents import Json
from reb_action.gateway.dialects import openai
from reb_action.gateway.dialects.rules import DialectRules, Route
from reb_action.gateway.hosted_tools import HostedRules, is_remote, split_typed_tools
from reb_action.gateway.json_text import encode_json, get_count, get_list, get_text, get_value
from reb_action.gateway.progress import Step
from reb_action.gateway.upstream.usage import AnswerSummary, TokenCounts

# The content parts that may name an address, and the key of the address.
_CONTENT_KEYS: Final = {
    "image_url": "url",
    "video_url": "url",
    "audio_url": "url",
    "input_audio": "url",
    "file_url": "url",
    "file": "file_data",
}
# Fields with which OpenAI, OpenRouter, xAI, Qwen and Z.ai switch on search and plugins.
_SEARCH_FIELDS: Final = frozenset(
    {
        *("web_search_options", "web_search", "plugins", "search_parameters", "enable_search"),
        *("search_options", "mcp_servers", "connectors", "background"),
    }
)


def _read_answer(value: Json, summary: AnswerSummary) -> None:
    summary.model = get_text(value, "model") or summary.model
    for choice in get_list(value, "choices"):
        _read_choice(choice, summary)
    if get_value(value, "usage") is not None:
        summary.update_tokens(_read_usage(get_value(value, "usage")))
    if get_value(value, "error") is not None:
        summary.error = get_text(value, "error", "message") or "error in the answer"


def _read_choice(choice: Json, summary: AnswerSummary) -> None:
    choice_index = str(get_value(choice, "index"))
    # A whole answer has `message`. An event has `delta`, where each tool call has an index.
    for part in ("message", "delta"):
        for number, call in enumerate(get_list(choice, part, "tool_calls")):
            index = get_count(call, "index")
            text = get_text(call, "function", "name") + get_text(call, "function", "arguments")
            summary.add_tool_text(f"{choice_index}.{number if index is None else index}", text)
    summary.ended = summary.ended or get_value(choice, "finish_reason") is not None


def _read_usage(usage: Json) -> TokenCounts:
    prompt, completion = get_count(usage, "prompt_tokens"), get_count(usage, "completion_tokens")
    total = get_count(usage, "total_tokens")
    if None not in (prompt, completion, total):
        # Some vendors count reasoning in the total only.
        completion = max(completion or 0, (total or 0) - (prompt or 0))
    cached = get_count(usage, "prompt_tokens_details", "cached_tokens")
    if cached is None:
        cached = get_count(usage, "prompt_cache_hit_tokens")
    searches = get_count(usage, "server_tool_use", "web_search_requests")
    return TokenCounts(input=prompt, cache_read=cached, output=completion, searches=searches)


def _read_max_output(value: Json) -> int | None:
    limit = get_count(value, "max_completion_tokens")
    return get_count(value, "max_tokens") if limit is None else limit


def _read_step(value: Json) -> Step | None:
    messages = get_list(value, "messages")
    results: list[Json] = []
    while messages and get_text(messages[-1], "role") == "tool":
        results.append(get_value(messages[-1], "content"))
        messages = messages[:-1]
    if not results or not messages:
        return None
    calls = [get_value(call, "function") for call in get_list(messages[-1], "tool_calls")]
    return Step(
        names=tuple(get_text(call, "name") for call in calls),
        calls=encode_json(calls).decode(),
        results=encode_json(results).decode(),
    )


def _split_tools(tools: list[Json]) -> tuple[list[Json], list[str]]:
    return split_typed_tools(tools, lambda kind: kind in ("function", "custom"))


def _find_content(part: dict[str, Json]) -> str | None:
    kind = get_text(part, "type")
    key = _CONTENT_KEYS.get(kind)
    if key is None:
        return None
    inner = part.get(kind)
    address = get_value(inner, key) if isinstance(inner, dict) else inner
    has_id = get_value(inner, "file_id") is not None
    return f"{kind} address" if has_id or is_remote(address) else None


_HOSTED: Final = HostedRules(
    split_tools=_split_tools,
    fields=_SEARCH_FIELDS,
    roots=("messages",),
    find_content=_find_content,
    text_part=lambda text: {"type": "text", "text": text},
)


CHAT: Final = DialectRules(
    routes=(Route(path=re.compile(r"/v1/chat/completions"), prefix="/v1"),),
    headers=frozenset({"openai-beta"}),
    get_key=openai.get_key,
    key_headers=openai.key_headers,
    build_error=openai.build_error,
    read_answer=_read_answer,
    read_max_output=_read_max_output,
    read_step=_read_step,
    hosted=_HOSTED,
)
