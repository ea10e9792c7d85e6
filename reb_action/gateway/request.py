"""What an agent asks, checked and made ready for the model."""

import hmac
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from reb_action.documents import Json
from reb_action.gateway.dialects import Route, Rules
from reb_action.gateway.json_text import at, dumps, items, once, short, text
from reb_action.model.agent import Dialect


@dataclass(frozen=True, kw_only=True, slots=True)
class Refusal:
    """An answer of the gateway itself, in the shape of its dialect."""

    status: int
    message: str


# How routers are told to ask another model when the first one fails.
_FALLBACKS = ("models", "fallbacks")


def named(route: Route, path: str, value: dict[str, Json], *, wanted: str | None) -> str | Refusal:
    """Return the model that a call is for; refused where it is not `wanted`, if that is given."""
    # Some routers read the names of keys in any case.
    keys = [key for key in value if key.lower() == "model"]
    model = route.model(path)
    if model is not None and keys:
        return Refusal(status=400, message="the path names the model, so the body may not")
    if keys not in ([], ["model"]):
        return Refusal(status=400, message="the request names its model in more than one way")
    model = text(value, "model") if model is None else model
    others = [name for name in (model, *_besides(value)) if name != wanted]
    if wanted is None or not others:
        return model
    message = f"this trial asks {short(wanted)}, and no other model such as {short(others[0])!r}"
    return Refusal(status=403, message=message)


def _besides(value: dict[str, Json]) -> Iterator[str]:
    """Yield the models that a call may ask besides: instead of its own, or within a tool."""
    for key in _FALLBACKS:
        if value.get(key) is not None:
            yield key
    for tool in items(value, "tools"):
        if at(tool, "model") is not None:
            yield text(tool, "model")


_HEADERS: Final = frozenset({"user-agent"})
_NO_OBJECT: Final = Refusal(
    status=400, message="the body of the request is no JSON object, or has a key twice"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """A request as it goes to the model, still without the key.

    `hides_usage` is set where the usage was asked for by us and not by the agent.
    """

    route: Route
    path: str
    target: str
    model: str
    body: bytes = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    hides_usage: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """A request as it comes, the names of its headers in lower case."""

    target: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)


def route_of(rules: Rules, dialect: Dialect, asked: Asked, *, placeholder: str) -> Route | Refusal:
    """Return the route of a request, or why it is none; its body is not looked at."""
    url = urlsplit(asked.target)
    query = dict(parse_qsl(url.query))
    route = rules.route(url.path)
    if route is None:
        return Refusal(status=404, message=f"this gateway speaks {dialect} and has no such route")
    given = rules.key_of(asked.headers, query).encode("utf-8", "replace")
    if not hmac.compare_digest(given, placeholder.encode()):
        return Refusal(status=401, message="this key is not that of the trial")
    if asked.headers.get("content-encoding", "identity") != "identity":
        return Refusal(status=415, message="this gateway takes no compressed requests")
    return route


def prepare(
    rules: Rules, dialect: Dialect, route: Route, asked: Asked, *, wanted: str | None
) -> Request | Refusal:
    """Make a request of a route what the model shall get.

    `wanted` is the one model that may be asked, where there is one.
    """
    url = urlsplit(asked.target)
    query = dict(parse_qsl(url.query))
    body = asked.body
    value = once(body)
    if not isinstance(value, dict):
        return _NO_OBJECT
    model = named(route, url.path, value, wanted=wanted)
    if isinstance(model, Refusal):
        return model
    asks = dialect is Dialect.CHAT and value.get("stream") is True
    hides = asks and at(value, "stream_options", "include_usage") is not True
    if hides:
        options = value.get("stream_options")
        known = options if isinstance(options, dict) else {}
        value["stream_options"] = {**known, "include_usage": True}
        body = dumps(value)
    kept = urlencode({n: query[n] for n, values in rules.query.items() if query.get(n) in values})
    path = url.path.removeprefix(route.prefix)
    return Request(
        route=route,
        path=url.path,
        target=f"{path}?{kept}" if kept else path,
        model=model,
        body=body,
        headers=_passed(rules, asked.headers),
        hides_usage=hides,
    )


def _passed(rules: Rules, headers: Mapping[str, str]) -> dict[str, str]:
    named = {name.strip().lower() for name in headers.get("connection", "").split(",")}
    kept = {
        name: value
        for name, value in headers.items()
        if name in (_HEADERS | rules.headers) - named and not {"\r", "\n"} & set(value)
    }
    # The body was read as JSON, so it is to be read so by the model; Google's would take others.
    return {**kept, "content-type": "application/json"}
