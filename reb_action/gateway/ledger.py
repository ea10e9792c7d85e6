"""Adds up the model calls of one trial and checks them against the budget; thread-safe."""

import threading
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from reb_action.gateway.budget import charge_call, find_unpriced, find_used_up
from reb_action.gateway.call import CallStatus, ModelCall, build_line
from reb_action.gateway.estimate import DensityMeter, UsageBounds, estimate_usage
from reb_action.gateway.json_text import shorten
from reb_action.gateway.ledger_state import LedgerState, OpenCall, load_state, save_state
from reb_action.gateway.prices import Prices
from reb_action.gateway.progress import LoopDetector, Step
from reb_action.gateway.settings import Budget
from reb_action.gateway.trouble import FailureLog
from reb_action.gateway.usage_total import UsageTotal
from reb_action.model.agent import Tally, VendorRecord
from reb_action.model.fault import FaultCause
from reb_action.redaction import redact

_FIRST_ERROR: Final = 400


class Ledger:
    """Admits calls within the budget and adds up their usage.

    `saved` is where the counts are kept after each change. If it exists, this ledger continues
    them: calls that were in progress get an estimate.
    """

    def __init__(
        self, budget: Budget, prices: Prices, record: Path, *, saved: Path | None = None
    ) -> None:
        before = LedgerState() if saved is None else load_state(saved)
        tally, vendor = before.tally, before.tally.vendor
        self._budget = budget
        self._prices = prices
        self._record = record
        self._saved = saved
        self._lock = threading.Lock()
        self._calls = tally.calls
        self._total = UsageTotal.restore(
            tally.usage,
            tally.estimate,
            searches=vendor.searches,
            charged_usd=before.charged_usd,
        )
        self._density = DensityMeter()
        self._loops = LoopDetector(budget.repeats)
        self._refused = Counter(tally.refused)
        self._models = Counter(vendor.models)
        self._removed = Counter(vendor.removed)
        self._offered = Counter(vendor.offered)
        self._retried = Counter(vendor.retried)
        self._waited_seconds = vendor.waited_seconds
        self._failures = FailureLog(vendor.failures)
        self._limit = tally.limit
        self._error = tally.last_error
        self._last_activity = time.monotonic()
        self._open: dict[int, OpenCall] = {}
        for call in before.open:
            self._record_cut(call)

    def record_activity(self) -> None:
        """Note that the model sent data, or that a call waits for it by Retry-After."""
        self._last_activity = time.monotonic()

    def quiet_seconds(self) -> float:
        """Return the seconds since the last activity, or since the start."""
        return time.monotonic() - self._last_activity

    def find_limit(self) -> str | None:
        """Return the limit that has been reached, or None."""
        with self._lock:
            self._limit = self._limit or find_used_up(self._budget, self._calls, self._total)
            return self._limit

    def admit_call(
        self,
        model: str,
        request: bytes,
        step: Step | None = None,
        *,
        max_output: int | None = None,
    ) -> str | None:
        """Count a call, or return the limit that it would exceed.

        The thread that calls this also records the end of the call.
        """
        with self._lock:
            self._limit = (
                self._limit
                or find_used_up(self._budget, self._calls, self._total)
                or find_unpriced(self._budget, self._prices, model)
                or self._loops.check(request, step)
            )
            if self._limit is None:
                self._calls += 1
                call = OpenCall(model=shorten(model), sent=len(request), max_output=max_output)
                self._open[threading.get_ident()] = call
            self._save()
            return self._limit

    def record_refusal(self, error: str) -> None:
        """Note a request that was refused before it became a call."""
        with self._lock:
            self._error = self._error or shorten(error)
            self._failures.add(FaultCause.REQUEST_REFUSED, shorten(error))

    def record_hosted_tools(self, names: Iterable[str], *, removed: bool) -> None:
        """Note tools and content of a request that the vendor would have run or fetched."""
        with self._lock:
            (self._removed if removed else self._offered).update(set(names))

    def record_retry(self, http_status: int, seconds: float, cause: FaultCause) -> None:
        """Note that a call is repeated after waiting for an overloaded model."""
        with self._lock:
            self._failures.add(cause, None)
            self._retried[str(http_status)] += 1
            self._waited_seconds += seconds

    def stop_clock(self) -> None:
        """Note the end of the trial: what failed until then does not fail for longer."""
        with self._lock:
            self._failures.stop_clock()

    def tally(self) -> Tally:
        """Return the counts so far."""
        with self._lock:
            return self._tally()

    def _tally(self) -> Tally:
        return Tally(
            usage=self._total.usage(),
            estimate=self._total.estimate(),
            calls=self._calls,
            refused=dict(self._refused),
            limit=self._limit,
            last_error=self._error,
            trouble=self._failures.trouble(),
            vendor=VendorRecord(
                models=dict(self._models),
                removed=dict(self._removed),
                offered=dict(self._offered),
                searches=self._total.searches,
                retried=dict(self._retried),
                waited_seconds=round(self._waited_seconds, 3),
                failures=self._failures.counts(),
            ),
        )

    def _save(self) -> None:
        if self._saved is None:
            return
        state = LedgerState(
            tally=self._tally(),
            charged_usd=self._total.charged_usd,
            open=tuple(self._open.values()),
        )
        save_state(self._saved, state)

    def _record_cut(self, call: OpenCall) -> None:
        """Add a call that was in progress when the earlier gateway was killed."""
        cut = ModelCall(
            route="",
            model=call.model,
            http_status=0,
            status=CallStatus.CUT,
            started=time.monotonic(),
            sent=call.sent,
            max_output=call.max_output,
        )
        self.record_call(cut, generates=True)

    def record_call(self, call: ModelCall, *, generates: bool) -> float | None:
        """Add a call that has ended, and write its line of model-calls.jsonl.

        Returns its cost in US dollars; None is unknown.
        """
        model = call.summary.model or call.model
        cost = self._prices.cost(model, call.summary.tokens)
        with self._lock:
            self._record_error(call)
            bounds = None
            if generates:
                bounds = self._add_usage(call, model, cost)
            self._open.pop(threading.get_ident(), None)
            self._save()
            with self._record.open("ab") as file:
                file.write(build_line(call, cost, bounds))
        return cost

    def _record_error(self, call: ModelCall) -> None:
        if call.http_status >= _FIRST_ERROR or call.status is CallStatus.FAILED:
            self._refused[str(call.http_status)] += 1
        error = call.error or call.summary.error
        if error is not None:
            # An error message may quote the request.
            self._error = shorten(redact(f"{call.http_status}: {error}".encode()).decode())
        if call.cause is not None:
            self._failures.add(call.cause, self._error)
        elif call.status is CallStatus.WHOLE:
            self._failures.clear()

    def _add_usage(self, call: ModelCall, model: str, cost: float | None) -> UsageBounds | None:
        summary = call.summary
        if summary.model is not None:
            self._models[shorten(summary.model)] += 1
        if call.status is CallStatus.WHOLE:
            self._total.add_turn(tool_calls=len(summary.tool_calls))
        if call.is_free:
            return None
        if call.usage_is_known:
            self._density.add(sent=call.sent, input_tokens=summary.tokens.input or 0)
            self._total.add_counted(summary.tokens, cost, charge=charge_call(self._prices, call))
            return None
        bounds = estimate_usage(
            summary.tokens,
            sent=call.sent,
            received=call.received,
            max_output=call.max_output,
            is_complete=call.status in (CallStatus.WHOLE, CallStatus.LEFT),
            tokens_per_byte=self._density.tokens_per_byte,
        )
        cost_bounds = self._prices.cost_bounds(model, bounds)
        if cost_bounds is None:
            cost_bounds = self._prices.cost_bounds(call.model, bounds)
        self._total.add_estimated(bounds, cost_bounds)
        return bounds
