"""OpenAI Chat Completions: https://platform.openai.com/docs/api-reference/chat."""

import re
from typing import Final

from reb_action.documents import Json
from reb_action.gateway.dialects import openai
from reb_action.gateway.dialects.rules import Route, Rules
from reb_action.gateway.json_text import at, count, items, text
from reb_action.gateway.upstream.usage import Reading, Spent


def _read(value: Json, reading: Reading) -> None:
    for choice in items(value, "choices"):
        place = str(at(choice, "index"))
        # A whole answer has `message`, an event `delta`; in the latter each call has its index.
        for part in ("message", "delta"):
            for number, call in enumerate(items(choice, part, "tool_calls")):
                index = count(call, "index")
                said = text(call, "function", "name") + text(call, "function", "arguments")
                reading.calls(f"{place}.{number if index is None else index}", said)
        reading.ended = reading.ended or at(choice, "finish_reason") is not None
    if at(value, "usage") is not None:
        reading.uses(_spent(at(value, "usage")))
    if at(value, "error") is not None:
        reading.error = text(value, "error", "message") or "an error within the answer"


def _spent(usage: Json) -> Spent:
    taken, given = count(usage, "prompt_tokens"), count(usage, "completion_tokens")
    total = count(usage, "total_tokens")
    if None not in (taken, given, total):
        # Some vendors leave reasoning out of what was given, but not out of the total.
        given = max(given or 0, (total or 0) - (taken or 0))
    cached = count(usage, "prompt_tokens_details", "cached_tokens")
    if cached is None:
        cached = count(usage, "prompt_cache_hit_tokens")
    return Spent(input=taken, cache_read=cached, output=given)


CHAT: Final = Rules(
    routes=(Route(path=re.compile(r"/v1/chat/completions"), prefix="/v1"),),
    headers=frozenset({"openai-beta"}),
    key_of=openai.key_of,
    key_headers=openai.key_headers,
    error=openai.error,
    read=_read,
)
