"""What the calls of one trial used, and when they have used enough; safe between threads."""

import hashlib
import threading
import time
from collections import Counter, deque
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Final

from reb_action.gateway.json_text import dumps, short
from reb_action.gateway.prices import Prices
from reb_action.gateway.settings import Budget
from reb_action.gateway.upstream.usage import Reading, Spent
from reb_action.model.agent import Tally, Usage
from reb_action.redaction import redact


class CallStatus(StrEnum):
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
    course: CallStatus
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


_ERROR: Final = 400
_ENDED: Final = (CallStatus.WHOLE, CallStatus.LEFT)
_UNPAID: Final = (CallStatus.ERROR, CallStatus.UNREACHABLE)


class Ledger:
    """Admits calls within the budget and adds up what they say that they used."""

    def __init__(self, budget: Budget, prices: Prices, record: Path) -> None:
        self._budget = budget
        self._prices = prices
        self._record = record
        self._lock = threading.Lock()
        self._calls = 0
        self._spent = Spent()
        self._cost: float | None = None
        self._has_price = True
        self._says_all = True
        self._turns = 0
        self._tools = 0
        self._refused: Counter[str] = Counter()
        self._requests: Counter[str] = Counter()
        self._recent: deque[str] = deque(maxlen=2 * (budget.repeats or 1))
        self._limit: str | None = None
        self._error: str | None = None
        self._last = time.monotonic()

    def touch(self) -> None:
        """Note that a byte of a call has come."""
        self._last = time.monotonic()

    def quiet_seconds(self) -> float:
        """Return the seconds since the last byte of any call, or since the start."""
        return time.monotonic() - self._last

    def used_up(self) -> str | None:
        """Say which limit has been reached, whatever may be asked."""
        with self._lock:
            self._limit = self._limit or self._spent_all()
            return self._limit

    def admit(self, model: str, request: bytes) -> str | None:
        """Count a call that may be made, or say which limit it would pass."""
        digest = hashlib.sha256(request).hexdigest()
        with self._lock:
            self._limit = self._limit or self._spent_all() or self._passed(model, digest)
            if self._limit is None:
                self._calls += 1
                self._requests[digest] += 1
            return self._limit

    def stray(self, said: str) -> None:
        """Note a request that is no call at all, for whoever looks for the reason of nothing."""
        with self._lock:
            self._error = self._error or short(said)

    def tally(self) -> Tally:
        """Return what was counted; no tokens and no cost where a call did not say its own."""
        with self._lock:
            # A sum that leaves some out would pass for the whole.
            spent = self._spent if self._says_all else Spent()
            return Tally(
                usage=Usage(
                    input_tokens=spent.input,
                    cache_read_tokens=spent.cache_read,
                    cache_write_tokens=spent.cache_write,
                    output_tokens=spent.output,
                    turns=self._turns,
                    tool_calls=self._tools,
                    cost_usd=round(self._cost, 6)
                    if self._cost is not None and self._has_price and self._says_all
                    else None,
                ),
                calls=self._calls,
                refused=dict(self._refused),
                limit=self._limit,
                last_error=self._error,
            )

    def close(self, call: Call, *, generates: bool) -> None:
        """Add a call that has ended, and write its line."""
        cost = self._prices.cost(call.model, call.reading.spent)
        with self._lock:
            self._add(call, cost, generates=generates)
            with self._record.open("ab") as file:
                file.write(line(call, cost))

    def _add(self, call: Call, cost: float | None, *, generates: bool) -> None:
        if call.status >= _ERROR:
            self._refused[str(call.status)] += 1
        error = call.error or call.reading.error
        if error is not None:
            # An error may quote what was sent.
            self._error = short(redact(f"{call.status}: {error}".encode()).decode())
        if not generates:
            return
        spent = call.reading.spent
        self._spent = self._spent.plus(spent)
        if cost is not None:
            self._cost = (self._cost or 0.0) + cost
        elif spent.input is not None and spent.output is not None:
            self._has_price = False
        if not _says_all(call):
            self._says_all = False
            self._misses_usage(call)
        if call.course is CallStatus.WHOLE:
            self._turns += 1
            self._tools += len(call.reading.tools)
            self._see(call.reading.fingerprint)

    def _misses_usage(self, call: Call) -> None:
        if self._budget.tokens is None and self._budget.cost_usd is None:
            return
        whole = call.course in _ENDED
        why = "the model does not say" if whole else "an answer ended before the model said"
        self._limit = self._limit or (
            f"{why} what it used, so that no budget of tokens or USD can be kept"
        )

    def _see(self, fingerprint: str | None) -> None:
        if fingerprint is None or self._budget.repeats is None:
            return
        self._recent.append(fingerprint)
        if self._recent.count(fingerprint) >= self._budget.repeats and self._limit is None:
            self._limit = f"the model made the same tool call {self._budget.repeats} times"

    def _spent_all(self) -> str | None:
        budget = self._budget
        tokens = (self._spent.input or 0) + (self._spent.output or 0)
        if budget.calls is not None and self._calls >= budget.calls:
            return f"the budget of {budget.calls} model calls is used up"
        if budget.tokens is not None and tokens >= budget.tokens:
            return f"the budget of {budget.tokens} tokens is used up"
        if budget.cost_usd is not None and (self._cost or 0.0) >= budget.cost_usd:
            return f"the budget of {budget.cost_usd} USD is used up"
        return None

    def _passed(self, model: str, digest: str) -> str | None:
        budget = self._budget
        if budget.repeats is not None and self._requests[digest] >= budget.repeats:
            return f"the same request was made {budget.repeats} times"
        if budget.cost_usd is not None and model not in self._prices.models:
            return f"the price of {short(model)} is not known, so that no budget in USD can be kept"
        return None


def _says_all(call: Call) -> bool:
    """Tell whether all is known that a call used: the numbers of one that is not whole may grow."""
    spent = call.reading.spent
    said = spent.input is not None and spent.output is not None
    return call.course in _UNPAID or (call.course in _ENDED and said)
