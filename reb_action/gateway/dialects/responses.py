"""OpenAI Responses: https://platform.openai.com/docs/api-reference/responses."""

import re
from typing import Final

from reb_action.documents import Json
from reb_action.gateway.dialects import openai
from reb_action.gateway.dialects.rules import DialectRules, Route
from reb_action.gateway.hosted_tools import HostedRules, is_remote, split_typed_tools
from reb_action.gateway.json_text import encode_json, get_count, get_list, get_text, get_value
from reb_action.gateway.progress import Step
from reb_action.gateway.upstream.usage import AnswerSummary, TokenCounts

_TOOL_ITEMS: Final = (
    *("function_call", "custom_tool_call", "local_shell_call", "shell_call", "mcp_call"),
)
_CLIENT_TOOLS: Final = frozenset(
    {
        *("function", "custom", "local_shell", "apply_patch", "tool_search"),
        *("computer", "computer_use_preview"),
    }
)
_ADDRESS_KEYS: Final = ("image_url", "file_url", "file_id")


def _read_answer(value: Json, summary: AnswerSummary) -> None:
    event = get_text(value, "type")
    if event == "response.output_item.done":
        _read_item(str(get_value(value, "output_index")), get_value(value, "item"), summary)
    elif event in ("response.completed", "response.incomplete", "response.failed"):
        _read_response(get_value(value, "response"), summary)
    elif event in ("response.created", "response.in_progress"):
        summary.model = get_text(value, "response", "model") or summary.model
    elif event == "error":
        summary.error = get_text(value, "message") or "error in the answer"
    elif get_text(value, "object") == "response":
        _read_response(value, summary)


def _read_response(response: Json, summary: AnswerSummary) -> None:
    summary.model = get_text(response, "model") or summary.model
    for index, item in enumerate(get_list(response, "output")):
        _read_item(str(index), item, summary)
    usage = get_value(response, "usage")
    summary.update_tokens(
        TokenCounts(
            input=get_count(usage, "input_tokens"),
            cache_read=get_count(usage, "input_tokens_details", "cached_tokens"),
            cache_write=get_count(usage, "input_tokens_details", "cache_write_tokens"),
            output=get_count(usage, "output_tokens"),
            searches=_count_searches(get_list(response, "output")),
        )
    )
    if get_text(response, "status") == "failed":
        summary.error = "the model could not finish the answer"
    if get_value(response, "error") is not None:
        summary.error = get_text(response, "error", "message") or "error in the answer"
    summary.ended = True


def _read_item(index: str, item: Json, summary: AnswerSummary) -> None:
    if get_text(item, "type") in _TOOL_ITEMS:
        action = get_value(item, "action")
        text = get_text(item, "name") + get_text(item, "arguments") + get_text(item, "input")
        # The last event of a stream repeats all items, so this replaces and does not append.
        summary.tool_calls[index] = text + (encode_json(action).decode() if action else "")


def _count_searches(items: list[Json]) -> int | None:
    searches = [item for item in items if get_text(item, "type") == "web_search_call"]
    # Opening a page that a search found is not charged.
    return sum(get_text(i, "action", "type") in ("", "search") for i in searches) or None


def _read_max_output(value: Json) -> int | None:
    return get_count(value, "max_output_tokens")


def _read_step(value: Json) -> Step | None:
    items = get_list(value, "input")
    results: list[Json] = []
    while items and get_text(items[-1], "type").endswith("_output"):
        results.append(get_value(items[-1], "output"))
        items = items[:-1]
    calls: list[Json] = []
    while items and get_text(items[-1], "type") in _TOOL_ITEMS:
        calls.append(items[-1])
        items = items[:-1]
    if not results or not calls:
        return None
    fields = ("name", "arguments", "input", "action")
    return Step(
        names=tuple(get_text(call, "name") for call in calls),
        calls=encode_json([[get_value(call, key) for key in fields] for call in calls]).decode(),
        results=encode_json(results).decode(),
    )


def _split_tools(tools: list[Json]) -> tuple[list[Json], list[str]]:
    """Split tools; a namespace holds tools, a shell runs in a container unless it is local."""
    kept: list[Json] = []
    names: list[str] = []
    for tool in tools:
        kind = get_text(tool, "type")
        if kind == "namespace" and isinstance(tool, dict):
            inner, removed = _split_tools(get_list(tool, "tools"))
            namespace: dict[str, Json] = {**tool, "tools": inner}
            kept += [namespace] if inner else []
            names += removed
        elif kind == "shell" and get_text(tool, "environment", "type") in ("", "local"):
            kept.append(tool)
        else:
            inner, removed = split_typed_tools([tool], _CLIENT_TOOLS.__contains__)
            kept += inner
            names += removed
    return kept, names


def _find_content(part: dict[str, Json]) -> str | None:
    kind = get_text(part, "type")
    if kind not in ("input_image", "input_file"):
        return None
    addresses = [part[key] for key in _ADDRESS_KEYS if part.get(key) is not None]
    return f"{kind} address" if any(map(is_remote, addresses)) else None


_HOSTED: Final = HostedRules(
    split_tools=_split_tools,
    # A stored prompt can contain tools; a background response outlives the trial.
    fields=frozenset({"background", "prompt", "mcp_servers", "conversation"}),
    roots=("input",),
    find_content=_find_content,
    text_part=lambda text: {"type": "input_text", "text": text},
)


RESPONSES: Final = DialectRules(
    routes=(Route(path=re.compile(r"/v1/responses"), prefix="/v1"),),
    headers=frozenset({"openai-beta"}),
    get_key=openai.get_key,
    key_headers=openai.key_headers,
    build_error=openai.build_error,
    read_answer=_read_answer,
    read_max_output=_read_max_output,
    read_step=_read_step,
    hosted=_HOSTED,
)
