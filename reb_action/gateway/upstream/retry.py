"""Decides how long to wait before an overloaded model is asked again."""

import re
import threading
import time
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from typing import Final

from reb_action.documents import Json
from reb_action.gateway.json_text import get_list, get_text, get_value

OVERLOADED: Final = frozenset({429, 503, 529})
_FIRST_WAIT: Final = 2.0
_LONGEST_WAIT: Final = 60.0
_STEP_SECONDS: Final = 0.5
# A 429 for an exhausted account does not go away by waiting.
_PERMANENT: Final = frozenset({"insufficient_quota", "billing_error", "billing_not_active"})


def find_wait(
    status: int, headers: Mapping[str, str], error: Json, *, attempt: int
) -> float | None:
    """Return the seconds to wait before the next attempt; None if it would be useless.

    The wait doubles with each attempt and is at least what the vendor asks for.
    """
    if status not in OVERLOADED or headers.get("x-should-retry") == "false":
        return None
    codes = {get_text(error, "error", "code"), get_text(error, "error", "type")}
    if codes & _PERMANENT:
        return None
    asked = _read_retry_after(headers)
    asked = _read_retry_info(error) if asked is None else asked
    return max(asked or 0.0, min(_FIRST_WAIT * 2**attempt, _LONGEST_WAIT))


def wait_for_model(
    seconds: float,
    *,
    closing: threading.Event,
    is_open: Callable[[], bool],
    on_wait: Callable[[], None],
) -> bool:
    """Wait; return False as soon as the gateway closes or the agent closed its connection."""
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        on_wait()
        if closing.wait(min(left, _STEP_SECONDS)) or not is_open():
            return False
    return True


def _read_retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of Retry-After, which is a number or a date (RFC 9110, 10.2.3)."""
    milliseconds = headers.get("retry-after-ms", "")
    if re.fullmatch(r"\d{1,9}", milliseconds):
        return int(milliseconds) / 1000
    text = headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d{1,9}(?:\.\d{1,6})?", text):
        return float(text)
    try:
        return max(parsedate_to_datetime(text).timestamp() - time.time(), 0.0)
    except (ValueError, TypeError, OverflowError):
        return None


def _read_retry_info(error: Json) -> float | None:
    """Return the delay that Gemini puts into the error's details, such as `17s`."""
    for detail in get_list(get_value(error, "error"), "details"):
        match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?)s", get_text(detail, "retryDelay"))
        if match is not None:
            return float(match[1])
    return None
