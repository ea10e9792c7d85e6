"""Name the cause of a failed model call from its HTTP status, its error body or its exception."""

import re
import socket
import ssl
from typing import Final

from reb_action.documents import Json
from reb_action.gateway.json_text import get_list, get_text, get_value
from reb_action.model.fault import FaultCause

_OVERLOADED: Final = frozenset({503, 529})
_SERVER_ERROR: Final = 500
_REDIRECTS: Final = range(300, 400)
# OpenAI, Anthropic, DeepSeek, OpenRouter and Z.ai name an empty account in one of these ways.
_QUOTA_CODES: Final = frozenset(
    {
        *("insufficient_quota", "billing_error", "billing_not_active", "insufficient_balance"),
        *("payment_required", "billing_hard_limit_reached", "1113"),
    }
)
_QUOTA_TEXT: Final = re.compile(
    r"credit balance|insufficient (?:balance|funds|credits?)|requires more credits", re.IGNORECASE
)
# Gemini answers a wrong key with 400.
_KEY_TEXT: Final = re.compile(
    r"api.?key not valid|invalid api.?key|incorrect api.?key", re.IGNORECASE
)
_MODEL_CODES: Final = frozenset({"model_not_found", "unknown_model", "invalid_model", "1211"})
_MODEL_TEXT: Final = re.compile(
    r"\bmodels?\b.{0,120}\b(?:not exist|not found|not a valid|not available|unknown)\b"
    r"|\b(?:unknown|invalid|unsupported|no such|not a valid) model\b|^model: ",
    re.IGNORECASE | re.DOTALL,
)
_BAD_REQUEST: Final = frozenset({400, 404, 422})
_BY_STATUS: Final = {
    401: FaultCause.KEY_REFUSED,
    402: FaultCause.QUOTA_EXHAUSTED,
    403: FaultCause.PERMISSION_REFUSED,
    404: FaultCause.ADDRESS_WRONG,
    405: FaultCause.ADDRESS_WRONG,
    408: FaultCause.SERVER_ERROR,
    429: FaultCause.RATE_LIMITED,
}


def classify_answer(status: int, error: Json) -> FaultCause:
    """Return the cause of an HTTP error, which the body may state better than the status."""
    codes = _codes(error)
    message = get_text(error, "error", "message") or get_text(error, "message")
    if codes & _QUOTA_CODES or _QUOTA_TEXT.search(message):
        return FaultCause.QUOTA_EXHAUSTED
    if status in _BAD_REQUEST and ("API_KEY_INVALID" in codes or _KEY_TEXT.search(message)):
        return FaultCause.KEY_REFUSED
    if status in _BAD_REQUEST and (codes & _MODEL_CODES or _MODEL_TEXT.search(message)):
        return FaultCause.MODEL_UNKNOWN
    if status in _OVERLOADED:
        return FaultCause.OVERLOADED
    if status in _REDIRECTS:
        return FaultCause.ADDRESS_WRONG
    other = FaultCause.SERVER_ERROR if status >= _SERVER_ERROR else FaultCause.REQUEST_REJECTED
    return _BY_STATUS.get(status, other)


def classify_exception(error: Exception | None, *, sent: bool) -> FaultCause:
    """Return the cause of a call without an answer; `sent` says that the vendor got the request."""
    if isinstance(error, socket.gaierror):
        return FaultCause.NAME_UNRESOLVED
    if isinstance(error, ssl.SSLError):
        return FaultCause.TLS_FAILED
    if isinstance(error, ConnectionRefusedError):
        return FaultCause.CONNECTION_REFUSED
    if isinstance(error, OSError) and str(error).startswith("Tunnel connection failed"):
        return FaultCause.PROXY_REFUSED
    return FaultCause.CONNECTION_CUT if sent else FaultCause.UNREACHABLE


def _codes(error: Json) -> set[str]:
    inner = get_value(error, "error")
    codes = {str(get_value(part, key)) for part in (error, inner) for key in _CODE_KEYS}
    return codes | {get_text(detail, "reason") for detail in get_list(inner, "details")}


_CODE_KEYS: Final = ("code", "type", "status")
