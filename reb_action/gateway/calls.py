"""One call of a model as it went, and its line in the record."""

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum

from reb_action.gateway.reading import Reading
from reb_action.gateway.wire import dumps, short


class Course(StrEnum):
    """How one call went."""

    WHOLE = "whole"
    CUT = "cut"
    LEFT = "left"
    SILENT = "silent"
    ERROR = "error"
    UNREACHABLE = "unreachable"


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """One call as it went; without the text of either side. `sent` and `received` are bytes."""

    route: str
    model: str
    status: int
    course: Course
    began: float
    first_byte: float | None = None
    sent: int = 0
    received: int = 0
    reading: Reading = field(default_factory=Reading)
    error: str | None = None


def line(call: Call, cost_usd: float | None) -> bytes:
    """Return the line of a call that ends now: numbers and names, no text of either side."""
    spent = call.reading.spent
    value = {
        "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "route": call.route,
        "model": short(call.model),
        "status": call.status,
        "course": call.course,
        "seconds": round(time.monotonic() - call.began, 3),
        "first_byte_seconds": _after(call.first_byte, call.began),
        "sent_bytes": call.sent,
        "received_bytes": call.received,
        "input_tokens": spent.input,
        "cache_read_tokens": spent.cache_read,
        "cache_write_tokens": spent.cache_write,
        "output_tokens": spent.output,
        "tool_calls": len(call.reading.tools),
        "cost_usd": None if cost_usd is None else round(cost_usd, 6),
    }
    return dumps(value) + b"\n"


def _after(moment: float | None, began: float) -> float | None:
    return None if moment is None else round(moment - began, 3)
