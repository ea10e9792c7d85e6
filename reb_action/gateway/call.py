"""One model call that has ended, and its line of model-calls.jsonl."""

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum

from reb_action.gateway.estimate import UsageBounds
from reb_action.gateway.json_text import encode_json, shorten
from reb_action.gateway.upstream.usage import AnswerSummary
from reb_action.model.fault import FaultCause


class CallStatus(StrEnum):
    """How a call ended.

    WHOLE: the complete answer reached the agent. CUT: the answer ended early. LEFT: the agent
    closed its connection, the answer was read to its end. SILENT: the model sent nothing for long.
    FAILED: an error in an answer. ERROR: an HTTP error. UNREACHABLE: no connection.
    """

    WHOLE = "whole"
    CUT = "cut"
    LEFT = "left"
    SILENT = "silent"
    FAILED = "failed"
    ERROR = "error"
    UNREACHABLE = "unreachable"


COMPLETE = (CallStatus.WHOLE, CallStatus.LEFT)
_FREE = (CallStatus.ERROR, CallStatus.UNREACHABLE)


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelCall:
    """A call that has ended, without the text of request and answer; sizes are in bytes.

    `max_output` is the largest output in tokens that the request allows. `cause` says why the call
    failed.
    """

    route: str
    model: str
    http_status: int
    status: CallStatus
    started: float
    first_byte: float | None = None
    sent: int = 0
    received: int = 0
    max_output: int | None = None
    summary: AnswerSummary = field(default_factory=AnswerSummary)
    error: str | None = None
    cause: FaultCause | None = None

    @property
    def is_free(self) -> bool:
        """Whether the vendor charges nothing: the model did not start to answer."""
        return self.status in _FREE

    @property
    def usage_is_known(self) -> bool:
        """Whether the call's usage is final: the counts of an incomplete answer may still grow."""
        tokens = self.summary.tokens
        is_counted = tokens.input is not None and tokens.output is not None
        ended = self.status in COMPLETE or (self.status is CallStatus.FAILED and self.summary.ended)
        return self.is_free or (ended and is_counted)


def build_line(call: ModelCall, cost_usd: float | None, bounds: UsageBounds | None) -> bytes:
    """Return the record of a call that ends now: numbers and names, no text of either side."""
    tokens = call.summary.tokens
    first_byte = None if call.first_byte is None else round(call.first_byte - call.started, 3)
    value = {
        "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "route": call.route,
        "model": shorten(call.model),
        "answered_by": None if call.summary.model is None else shorten(call.summary.model),
        "status": call.http_status,
        "course": call.status,
        "cause": call.cause,
        "seconds": round(time.monotonic() - call.started, 3),
        "first_byte_seconds": first_byte,
        "sent_bytes": call.sent,
        "received_bytes": call.received,
        "input_tokens": tokens.input,
        "cache_read_tokens": tokens.cache_read,
        "cache_write_tokens": tokens.cache_write,
        "output_tokens": tokens.output,
        "searches": tokens.searches,
        "tool_calls": len(call.summary.tool_calls),
        "cost_usd": None if cost_usd is None else round(cost_usd, 6),
        "estimate": None if bounds is None else _bounds_record(bounds),
    }
    return encode_json(value) + b"\n"


def _bounds_record(bounds: UsageBounds) -> dict[str, int | None]:
    return {
        "input_tokens_min": bounds.low.input,
        "input_tokens_max": bounds.high.input,
        "output_tokens_min": bounds.low.output,
        "output_tokens_max": bounds.high.output,
    }
