"""What differs from dialect to dialect, as one value."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from reb_action.documents import Json
from reb_action.gateway.upstream.usage import Reading


@dataclass(frozen=True, kw_only=True, slots=True)
class Route:
    """A path that may be called; `prefix` is what the model's base URL already has of it.

    The group `model` of the path is the model, where the dialect has it there and not in the body.
    A route that does not generate only counts tokens, and says nothing of its own use.
    """

    path: re.Pattern[str]
    prefix: str = ""
    generates: bool = True

    def model(self, path: str) -> str | None:
        """Return the model that a path of this route names, if it names one."""
        found = self.path.fullmatch(path)
        return None if found is None else found.groupdict().get("model")


@dataclass(frozen=True, kw_only=True, slots=True)
class Rules:
    """One dialect: `key_of` and `key_headers` are how a key is found and sent, names lower-case.

    `headers` and `query` are what a request may bring besides, a parameter with its values: any
    other could choose the form of the answer, and so whether it says what it used. `read` takes
    in one event, or a whole answer.
    """

    routes: tuple[Route, ...]
    headers: frozenset[str] = frozenset()
    query: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    key_of: Callable[[Mapping[str, str], Mapping[str, str]], str]
    key_headers: Callable[[str], Mapping[str, str]]
    error: Callable[[int, str], Json]
    read: Callable[[Json, Reading], None]

    def route(self, path: str) -> Route | None:
        """Return the route of a path without its query."""
        return next((route for route in self.routes if route.path.fullmatch(path)), None)


def bearer(headers: Mapping[str, str]) -> str:
    """Return the token of an Authorization header, or an empty text."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""
