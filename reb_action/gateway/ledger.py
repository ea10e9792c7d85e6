"""Counts the model calls of one trial and checks them against the budget; thread-safe."""

import hashlib
import threading
import time
from collections import Counter, deque
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Final

from reb_action.gateway.json_text import encode_json, shorten
from reb_action.gateway.prices import Prices
from reb_action.gateway.settings import Budget
from reb_action.gateway.upstream.usage import AnswerSummary, TokenCounts
from reb_action.model.agent import Tally, Usage
from reb_action.redaction import redact

_FIRST_ERROR: Final = 400


class CallStatus(StrEnum):
    """How a call ended: whole answer, cut answer, agent left, silent model, error, no network."""

    WHOLE = "whole"
    CUT = "cut"
    LEFT = "left"
    SILENT = "silent"
    ERROR = "error"
    UNREACHABLE = "unreachable"


_COMPLETE: Final = (CallStatus.WHOLE, CallStatus.LEFT)
_FREE: Final = (CallStatus.ERROR, CallStatus.UNREACHABLE)


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelCall:
    """A call that has ended, without the text of request and answer; sizes are in bytes."""

    route: str
    model: str
    http_status: int
    status: CallStatus
    started: float
    first_byte: float | None = None
    sent: int = 0
    received: int = 0
    summary: AnswerSummary = field(default_factory=AnswerSummary)
    error: str | None = None

    @property
    def usage_is_known(self) -> bool:
        """Whether the call's usage is final: the counts of an incomplete answer may still grow."""
        tokens = self.summary.tokens
        is_counted = tokens.input is not None and tokens.output is not None
        return self.status in _FREE or (self.status in _COMPLETE and is_counted)


class Ledger:
    """Admits calls within the budget and adds up their usage."""

    def __init__(self, budget: Budget, prices: Prices, record: Path) -> None:
        self._budget = budget
        self._prices = prices
        self._record = record
        self._lock = threading.Lock()
        self._calls = 0
        self._tokens = TokenCounts()
        self._cost: float | None = None
        self._cost_is_known = True
        self._usage_is_known = True
        self._turns = 0
        self._tool_calls = 0
        self._refused: Counter[str] = Counter()
        self._requests: Counter[str] = Counter()
        self._recent: deque[str] = deque(maxlen=2 * (budget.repeats or 1))
        self._limit: str | None = None
        self._error: str | None = None
        self._last_activity = time.monotonic()

    def record_activity(self) -> None:
        """Note that the model sent data."""
        self._last_activity = time.monotonic()

    def quiet_seconds(self) -> float:
        """Return the seconds since the model last sent data, or since the start."""
        return time.monotonic() - self._last_activity

    def find_limit(self) -> str | None:
        """Return the limit that has been reached, or None."""
        with self._lock:
            self._limit = self._limit or self._find_used_up_budget()
            return self._limit

    def admit_call(self, model: str, request: bytes) -> str | None:
        """Count a call, or return the limit that it would exceed."""
        digest = hashlib.sha256(request).hexdigest()
        with self._lock:
            self._limit = (
                self._limit or self._find_used_up_budget() or self._check_request(model, digest)
            )
            if self._limit is None:
                self._calls += 1
                self._requests[digest] += 1
            return self._limit

    def record_refusal(self, error: str) -> None:
        """Note a request that was refused before it became a call."""
        with self._lock:
            self._error = self._error or shorten(error)

    def tally(self) -> Tally:
        """Return the counts; tokens and cost are unknown if a call did not report its usage."""
        with self._lock:
            # A partial sum would look like the total.
            tokens = self._tokens if self._usage_is_known else TokenCounts()
            cost_is_known = self._cost_is_known and self._usage_is_known
            return Tally(
                usage=Usage(
                    input_tokens=tokens.input,
                    cache_read_tokens=tokens.cache_read,
                    cache_write_tokens=tokens.cache_write,
                    output_tokens=tokens.output,
                    turns=self._turns,
                    tool_calls=self._tool_calls,
                    cost_usd=round(self._cost, 6)
                    if self._cost is not None and cost_is_known
                    else None,
                ),
                calls=self._calls,
                refused=dict(self._refused),
                limit=self._limit,
                last_error=self._error,
            )

    def record_call(self, call: ModelCall, *, generates: bool) -> None:
        """Add a call that has ended, and write its line of model-calls.jsonl."""
        cost = self._prices.cost(call.model, call.summary.tokens)
        with self._lock:
            self._add_call(call, cost, generates=generates)
            with self._record.open("ab") as file:
                file.write(_build_line(call, cost))

    def _add_call(self, call: ModelCall, cost: float | None, *, generates: bool) -> None:
        if call.http_status >= _FIRST_ERROR:
            self._refused[str(call.http_status)] += 1
        error = call.error or call.summary.error
        if error is not None:
            # An error message may quote the request.
            self._error = shorten(redact(f"{call.http_status}: {error}".encode()).decode())
        if not generates:
            return
        tokens = call.summary.tokens
        self._tokens = self._tokens.plus(tokens)
        if cost is not None:
            self._cost = (self._cost or 0.0) + cost
        elif tokens.input is not None and tokens.output is not None:
            self._cost_is_known = False
        if not call.usage_is_known:
            self._usage_is_known = False
            self._end_usage_budget(call)
        if call.status is CallStatus.WHOLE:
            self._turns += 1
            self._tool_calls += len(call.summary.tool_calls)
            self._check_repeats(call.summary.fingerprint)

    def _end_usage_budget(self, call: ModelCall) -> None:
        if self._budget.tokens is None and self._budget.cost_usd is None:
            return
        is_complete = call.status in _COMPLETE
        cause = "the model reports no usage" if is_complete else "an answer ended before its usage"
        self._limit = self._limit or f"{cause}, so the budget of tokens or USD cannot be enforced"

    def _check_repeats(self, fingerprint: str | None) -> None:
        if fingerprint is None or self._budget.repeats is None:
            return
        self._recent.append(fingerprint)
        if self._recent.count(fingerprint) >= self._budget.repeats and self._limit is None:
            self._limit = f"the model made the same tool call {self._budget.repeats} times"

    def _find_used_up_budget(self) -> str | None:
        budget = self._budget
        tokens = (self._tokens.input or 0) + (self._tokens.output or 0)
        if budget.calls is not None and self._calls >= budget.calls:
            return f"the budget of {budget.calls} model calls is used up"
        if budget.tokens is not None and tokens >= budget.tokens:
            return f"the budget of {budget.tokens} tokens is used up"
        if budget.cost_usd is not None and (self._cost or 0.0) >= budget.cost_usd:
            return f"the budget of {budget.cost_usd} USD is used up"
        return None

    def _check_request(self, model: str, digest: str) -> str | None:
        budget = self._budget
        if budget.repeats is not None and self._requests[digest] >= budget.repeats:
            return f"the same request was made {budget.repeats} times"
        if budget.cost_usd is not None and model not in self._prices.models:
            return f"the price of {shorten(model)} is unknown, so the USD budget cannot be enforced"
        return None


def _build_line(call: ModelCall, cost_usd: float | None) -> bytes:
    """Return the record of a call that ends now: numbers and names, no text of either side."""
    tokens = call.summary.tokens
    first_byte = None if call.first_byte is None else round(call.first_byte - call.started, 3)
    value = {
        "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "route": call.route,
        "model": shorten(call.model),
        "status": call.http_status,
        "course": call.status,
        "seconds": round(time.monotonic() - call.started, 3),
        "first_byte_seconds": first_byte,
        "sent_bytes": call.sent,
        "received_bytes": call.received,
        "input_tokens": tokens.input,
        "cache_read_tokens": tokens.cache_read,
        "cache_write_tokens": tokens.cache_write,
        "output_tokens": tokens.output,
        "tool_calls": len(call.summary.tool_calls),
        "cost_usd": None if cost_usd is None else round(cost_usd, 6),
    }
    return encode_json(value) + b"\n"
