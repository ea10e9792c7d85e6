"""Checks an agent's request and turns it into the request for the model."""

import hmac
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from reb_action.documents import Json
from reb_action.gateway.conversation import CONTENT
from reb_action.gateway.conversation.content import Message
from reb_action.gateway.dialects import DialectRules, Route
from reb_action.gateway.hosted_tools import find_hosted_tools
from reb_action.gateway.json_text import get_list, get_text, get_value, parse_strict_json, shorten
from reb_action.gateway.model_names import is_same_model
from reb_action.gateway.progress import Step
from reb_action.gateway.settings import HostedTools
from reb_action.model.agent import Dialect

_HEADERS: Final = frozenset({"user-agent"})
# Fields in which routers such as OpenRouter accept models to try when the first one fails.
_FALLBACK_FIELDS: Final = ("models", "fallbacks")


@dataclass(frozen=True, kw_only=True, slots=True)
class Refusal:
    """A request that the gateway answers itself, with an error in the agent's dialect."""

    status: int
    message: str


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentRequest:
    """A request as received; header names are in lower case."""

    target: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelRequest:
    """A request for the model, still without the API key.

    `drop_usage_event` is set if the gateway asked for usage and the agent did not. `hosted_tools`
    names the tools and content on the vendor's side that the agent's request had. `messages` are
    those after the model's last answer.
    """

    route: Route
    path: str
    target: str
    model: str
    body: bytes = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    max_output: int | None = None
    step: Step | None = field(default=None, repr=False)
    messages: tuple[Message, ...] = field(default=(), repr=False)
    hosted_tools: tuple[str, ...] = ()
    drop_usage_event: bool = False


def find_route(
    rules: DialectRules, dialect: Dialect, request: AgentRequest, *, placeholder: str
) -> Route | Refusal:
    """Return the route of a request after checking its path, key and encoding."""
    url = urlsplit(request.target)
    query = dict(parse_qsl(url.query))
    route = rules.find_route(url.path)
    if route is None:
        return Refusal(
            status=404, message=f"this gateway serves the dialect {dialect} and has no such route"
        )
    key = rules.get_key(request.headers, query).encode("utf-8", "replace")
    if not hmac.compare_digest(key, placeholder.encode()):
        return Refusal(status=401, message="this is not the key of the trial")
    if request.headers.get("content-encoding", "identity") != "identity":
        return Refusal(status=415, message="this gateway accepts no compressed requests")
    return route


def build_request(
    rules: DialectRules,
    dialect: Dialect,
    route: Route,
    request: AgentRequest,
    *,
    allowed_model: str | None,
    hosted_tools: HostedTools = HostedTools.FORWARD,
) -> ModelRequest | Refusal:
    """Build the request for the model; `allowed_model` is the only model allowed, if not None."""
    value = parse_strict_json(request.body)
    if not isinstance(value, dict):
        message = "the request body is not a JSON object, or repeats a key"
        return Refusal(status=400, message=message)
    removes = hosted_tools is HostedTools.REMOVE
    hosted = find_hosted_tools(value, rules.hosted, remove=removes)
    path = urlsplit(request.target).path
    model = _find_model(route, path, value, allowed_model=allowed_model)
    if isinstance(model, Refusal):
        return model
    target_path, renamed = _rename_model(route, path, value, model)
    adds_usage = dialect is Dialect.CHAT and _add_usage_option(value)
    is_changed = renamed or adds_usage or (removes and bool(hosted))
    return ModelRequest(
        route=route,
        path=path,
        target=target_path.removeprefix(route.prefix) + _keep_query(rules, request.target),
        model=model,
        body=_encode_body(value) if is_changed else request.body,
        headers=_keep_headers(rules, request.headers),
        max_output=rules.read_max_output(value),
        step=rules.read_step(value),
        messages=CONTENT[dialect].read_messages(value),
        hosted_tools=tuple(hosted),
        drop_usage_event=adds_usage,
    )


def _encode_body(value: Json) -> bytes:
    # Keys keep their order: vendors cache prompts by their text.
    return json.dumps(value).encode()


def _keep_query(rules: DialectRules, target: str) -> str:
    query = dict(parse_qsl(urlsplit(target).query))
    kept = urlencode({n: query[n] for n, values in rules.query.items() if query.get(n) in values})
    return f"?{kept}" if kept else ""


def _find_model(
    route: Route, path: str, value: dict[str, Json], *, allowed_model: str | None
) -> str | Refusal:
    """Return the model to ask, or why the request is refused.

    A name that means the allowed model is replaced by the name that the user chose.
    """
    # Some routers ignore the case of keys.
    keys = [key for key in value if key.lower() == "model"]
    model = route.model(path)
    if model is not None and keys:
        return Refusal(status=400, message="the path names the model; remove it from the body")
    if keys not in ([], ["model"]):
        return Refusal(status=400, message="the request names its model more than once")
    model = get_text(value, "model") if model is None else model
    if allowed_model is None:
        return model
    names = (model, *_other_models(value))
    others = [name for name in names if not is_same_model(name, allowed_model)]
    if not others:
        return allowed_model
    message = f"this trial may use {shorten(allowed_model)} only, not {shorten(others[0])!r}"
    return Refusal(status=403, message=message)


def _rename_model(route: Route, path: str, value: dict[str, Json], model: str) -> tuple[str, bool]:
    """Return the path with this model's name, and whether the body was changed to it."""
    path_model = route.model(path)
    if path_model is not None:
        return path.replace(f"/models/{path_model}:", f"/models/{model}:"), False
    renamed = value.get("model") != model and "model" in value
    if renamed:
        value["model"] = model
    return path, renamed


def _other_models(value: dict[str, Json]) -> Iterator[str]:
    """Yield the further models of a request: fallbacks, and models within a tool."""
    for key in _FALLBACK_FIELDS:
        if value.get(key) is not None:
            yield key
    for tool in get_list(value, "tools"):
        if get_value(tool, "model") is not None:
            yield get_text(tool, "model")


def _add_usage_option(value: dict[str, Json]) -> bool:
    """Make a Chat Completions stream report its usage; return whether that changed the request."""
    if value.get("stream") is not True:
        return False
    if get_value(value, "stream_options", "include_usage") is True:
        return False
    options = value.get("stream_options")
    value["stream_options"] = {
        **(options if isinstance(options, dict) else {}),
        "include_usage": True,
    }
    return True


def _keep_headers(rules: DialectRules, headers: Mapping[str, str]) -> dict[str, str]:
    hop_by_hop = {name.strip().lower() for name in headers.get("connection", "").split(",")}
    kept = {
        name: value
        for name, value in headers.items()
        if name in (_HEADERS | rules.headers) - hop_by_hop and not {"\r", "\n"} & set(value)
    }
    # The body was checked as JSON, so the vendor must read it as JSON; Google accepts other types.
    return {**kept, "content-type": "application/json"}
