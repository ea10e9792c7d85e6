"""The parts that both dialects of OpenAI share."""

from collections.abc import Mapping
from typing import Final

from reb_action.documents import Json
from reb_action.gateway.dialects.rules import get_bearer

_TYPES: Final = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
_CLIENT_ERRORS: Final = range(400, 500)
_AZURE_HOSTS: Final = (".azure.com", ".azure-api.net")


def get_key(headers: Mapping[str, str], _query: Mapping[str, str]) -> str:
    """Return the key of a request, or an empty text."""
    return get_bearer(headers)


def key_headers(key: str, host: str) -> Mapping[str, str]:
    """Return the headers with the key."""
    if host.endswith(_AZURE_HOSTS):
        return {"api-key": key}
    return {"authorization": f"Bearer {key}"}


def build_error(status: int, message: str) -> Json:
    """Return an error in OpenAI's format."""
    default = "invalid_request_error" if status in _CLIENT_ERRORS else "server_error"
    error_type = _TYPES.get(status, default)
    return {"error": {"message": message, "type": error_type, "param": None, "code": None}}
