"""OpenAI Chat Completions: https://platform.openai.com/docs/api-reference/chat."""

import re
from typing import Final

from reb_action.documents import Json
from reb_action.gateway.dialects import openai
from reb_action.gateway.dialects.rules import DialectRules, Route
from reb_action.gateway.json_text import get_count, get_list, get_text, get_value
from reb_action.gateway.upstream.usage import AnswerSummary, TokenCounts


def _read_answer(value: Json, summary: AnswerSummary) -> None:
    for choice in get_list(value, "choices"):
        _read_choice(choice, summary)
    if get_value(value, "usage") is not None:
        summary.update_tokens(_read_usage(get_value(value, "usage")))
    if get_value(value, "error") is not None:
        summary.error = get_text(value, "error", "message") or "error within the answer"


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
    return TokenCounts(input=prompt, cache_read=cached, output=completion)


CHAT: Final = DialectRules(
    routes=(Route(path=re.compile(r"/v1/chat/completions"), prefix="/v1"),),
    headers=frozenset({"openai-beta"}),
    get_key=openai.get_key,
    key_headers=openai.key_headers,
    build_error=openai.build_error,
    read_answer=_read_answer,
)
