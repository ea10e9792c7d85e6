"""The type of a dialect: everything that differs between vendors' APIs."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from reb_action.documents import Json
from reb_action.gateway.hosted_tools import HostedRules
from reb_action.gateway.progress import Step
from reb_action.gateway.upstream.usage import AnswerSummary


@dataclass(frozen=True, kw_only=True, slots=True)
class Route:
    """An allowed path; `prefix` is the part that the vendor's base URL already contains.

    The path's group `model` is the model in dialects that name it there. A route with
    `generates=False` only counts tokens and reports no usage.
    """

    path: re.Pattern[str]
    prefix: str = ""
    generates: bool = True

    def model(self, path: str) -> str | None:
        """Return the model that a path of this route names, or None."""
        match = self.path.fullmatch(path)
        return None if match is None else match.groupdict().get("model")


@dataclass(frozen=True, kw_only=True, slots=True)
class DialectRules:
    """One dialect; header names are in lower case.

    `headers` and `query` (parameter → allowed values) are forwarded; anything else could change the
    form of the answer and so hide its usage. `get_key` reads the key of a request from its headers
    and query, `key_headers` builds the headers with the real key for a host. `read_answer` reads
    one event, or a whole answer. `read_max_output` and `read_step` read a request: the largest
    output in tokens that it allows, and the last tool calls with their results. `hosted` says what
    a request has on the vendor's side.
    """

    routes: tuple[Route, ...]
    headers: frozenset[str] = frozenset()
    query: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    get_key: Callable[[Mapping[str, str], Mapping[str, str]], str]
    key_headers: Callable[[str, str], Mapping[str, str]]
    build_error: Callable[[int, str], Json]
    read_answer: Callable[[Json, AnswerSummary], None]
    read_max_output: Callable[[Json], int | None]
    read_step: Callable[[Json], Step | None]
    hosted: HostedRules

    def find_route(self, path: str) -> Route | None:
        """Return the route of a path without its query."""
        return next((route for route in self.routes if route.path.fullmatch(path)), None)


def get_bearer(headers: Mapping[str, str]) -> str:
    """Return the token of an Authorization header, or an empty text."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""
