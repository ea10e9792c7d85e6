"""Finds and removes tools by which the vendor acts or fetches on the agent's behalf.

Web search, remote MCP servers, code containers and addresses of images reach the Internet from the
vendor's side, so a sandbox without network does not stop them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from reb_action.documents import Json
from reb_action.gateway.json_text import get_text

_CONTENT_KEYS: Final = ("content", "parts", "output", "messages")
_REMOVED: Final = "[removed: this trial's network does not allow the model's vendor to fetch it]"


@dataclass(frozen=True, kw_only=True, slots=True)
class HostedRules:
    """The vendor-side features of a dialect.

    `split_tools` returns the tools that the agent runs itself and the names of all others.
    `fields` are fields of a request, `roots` those with the conversation. `find_content` names a
    content part that the vendor would fetch, `text_part` builds the part that replaces it.
    """

    split_tools: Callable[[list[Json]], tuple[list[Json], list[str]]]
    fields: frozenset[str]
    roots: tuple[str, ...]
    find_content: Callable[[dict[str, Json]], str | None]
    text_part: Callable[[str], dict[str, Json]]


def find_hosted_tools(value: dict[str, Json], rules: HostedRules, *, remove: bool) -> list[str]:
    """Return the names of a request's vendor-side features; remove them if requested."""
    names = _find_fields(value, rules, remove=remove)
    offered = value.get("tools")
    # Google also accepts one object instead of a list.
    kept, tools = rules.split_tools([offered] if isinstance(offered, dict) else _as_list(offered))
    if tools and remove:
        _replace_tools(value, kept, tools)
    content: list[str] = []
    for root in rules.roots:
        content += _find_below(value, root, rules, remove=remove)
    return [*names, *tools, *content]


def split_typed_tools(
    tools: list[Json], is_client_tool: Callable[[str], bool]
) -> tuple[list[Json], list[str]]:
    """Split tools by their `type`; a tool without one is a function of the agent."""
    kept: list[Json] = []
    names: list[str] = []
    for tool in tools:
        kind = get_text(tool, "type")
        if not kind or is_client_tool(kind):
            kept.append(tool)
        else:
            names.append(kind)
    return kept, names


def is_remote(address: Json) -> bool:
    """Return whether the vendor would fetch this address: anything but data within the request."""
    return isinstance(address, str) and not address.lower().startswith("data:")


def _find_fields(value: dict[str, Json], rules: HostedRules, *, remove: bool) -> list[str]:
    # Some routers ignore the case of keys, so `Tools` must not escape the check of `tools`.
    exact = {"tools", *rules.roots}
    folded = {name.lower() for name in exact}
    names = sorted(
        key
        for key in value
        if (key.lower() in rules.fields and value[key])
        or (key not in exact and key.lower() in folded)
    )
    if remove:
        for name in names:
            del value[name]
    return names


def _replace_tools(value: dict[str, Json], kept: list[Json], removed: list[str]) -> None:
    choice = value.get("tool_choice")
    if kept:
        value["tools"] = kept
    else:
        value.pop("tools", None)
    names = {get_text(tool, "name") or get_text(tool, "function", "name") for tool in kept}
    wanted = get_text(choice, "name") or get_text(choice, "function", "name")
    is_gone = get_text(choice, "type") in removed or (bool(wanted) and wanted not in names)
    if not kept or is_gone:
        value.pop("tool_choice", None)


def _find_below(
    parent: dict[str, Json], key: str, rules: HostedRules, *, remove: bool
) -> list[str]:
    """Return the remote content at a key: one part, or a list of them."""
    node = parent.get(key)
    if isinstance(node, list):
        found = [_find_content(part, rules, remove=remove) for part in node]
        if remove:
            parent[key] = [part for part, _ in found]
        return [name for _, names in found for name in names]
    part, names = _find_content(node, rules, remove=remove)
    if names and remove:
        parent[key] = part
    return names


def _find_content(part: Json, rules: HostedRules, *, remove: bool) -> tuple[Json, list[str]]:
    """Return the replacement of a part, and the remote content in it."""
    if not isinstance(part, dict):
        return part, []
    name = rules.find_content(part)
    if name is not None:
        return (rules.text_part(_REMOVED) if remove else part), [name]
    names = [
        found for key in _CONTENT_KEYS for found in _find_below(part, key, rules, remove=remove)
    ]
    return part, names


def _as_list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []
