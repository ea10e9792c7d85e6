"""What both dialects of OpenAI share."""

from collections.abc import Mapping
from typing import Final

from reb_action.documents import Json
from reb_action.gateway.dialects.rules import bearer

_KINDS: Final = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
_REQUEST: Final = range(400, 500)


def key_of(headers: Mapping[str, str], _query: Mapping[str, str]) -> str:
    """Return the key that a request brings, or an empty text."""
    return bearer(headers)


def key_headers(key: str) -> Mapping[str, str]:
    """Return the headers that bring a key."""
    return {"authorization": f"Bearer {key}"}


def error(status: int, message: str) -> Json:
    """Return an error as the models of OpenAI answer it."""
    other = "invalid_request_error" if status in _REQUEST else "server_error"
    kind = _KINDS.get(status, other)
    return {"error": {"message": message, "type": kind, "param": None, "code": None}}
