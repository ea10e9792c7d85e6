"""The model that a request names, wherever it does, and why another than that of the trial."""

from collections.abc import Iterator

from reb_action.documents import Json
from reb_action.gateway.dialects import Route
from reb_action.gateway.refusal import Refusal
from reb_action.gateway.wire import at, items, short, text

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
