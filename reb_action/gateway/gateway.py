"""One gateway: it listens for one trial's agent, and ends with it."""

import secrets
import threading
from collections.abc import Generator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from reb_action.gateway.body import Room
from reb_action.gateway.dialects import RULES
from reb_action.gateway.exchange import ExchangeSettings
from reb_action.gateway.handler import Egress, Handler, ModelEndpoint
from reb_action.gateway.ledger import Ledger
from reb_action.gateway.prices import Prices
from reb_action.gateway.server import Server
from reb_action.gateway.settings import Budget, Upstream
from reb_action.gateway.upstream.connection import UpstreamConnection, parse
from reb_action.gateway.upstream.key_redaction import hider
from reb_action.model.agent import Tally

_POLL_SECONDS: Final = 0.05
_CUT_SECONDS: Final = 2.0
_ROOM_BYTES: Final = 128 * 1024 * 1024
_ROOM_SECONDS: Final = 60.0
# A budget can be passed by what this many calls use: none has said yet when the last one begins.
_AT_ONCE: Final = 4


class Gateway:
    """Speaks to the model for an agent which knows only `address` and `placeholder`.

    It listens from `with` on, at the Unix socket `listen` or, without, at a port of the loopback;
    without `upstream` there is only the way out that `egress` is. `record` gets one JSON line per
    call, without its text. Raises UsageError for an address that is none, PlaceError for a socket
    that cannot be.
    """

    def __init__(
        self,
        upstream: Upstream | None,
        budget: Budget,
        *,
        prices: Prices,
        record: Path,
        listen: Path | None,
        egress: Egress | None = None,
    ) -> None:
        self.placeholder = f"reb-{secrets.token_hex(24)}"
        self._drain_seconds = budget.drain_seconds
        self._listen = listen
        self._ledger = Ledger(budget, prices, record)
        self._idle = threading.Condition()
        self._lines: set[UpstreamConnection] = set()
        self._closing = False
        counts = budget.tokens is not None or budget.cost_usd is not None
        self._turns = threading.Semaphore(_AT_ONCE) if counts else nullcontext()
        desk = None if upstream is None else self._desk(upstream, budget)
        fields = {"desk": desk, "egress": None if egress is None else staticmethod(egress)}
        self._handler = type("TrialHandler", (Handler,), fields)
        self._server: Server | None = None

    def __enter__(self) -> Self:
        self._server = Server(self._listen, self._handler)
        serve = self._server.serve_forever
        threading.Thread(target=serve, args=(_POLL_SECONDS,), daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop listening; calls under way get `drain_seconds` to say what they used.

        Not where an interrupt ends it: a runner that cancels a job kills what lingers.
        """
        self._closing = True
        server = self._running()
        server.shutdown()
        server.server_close()
        if self._listen is not None:
            self._listen.unlink(missing_ok=True)
        if not self._rests(self._drain_seconds if kind is None else 0.0):
            for line in tuple(self._lines):
                line.cut()
            self._rests(_CUT_SECONDS)
        server.hang_up()

    @property
    def address(self) -> Path | str:
        """Where it listens: the socket's path, or `http://127.0.0.1:PORT`."""
        return self._listen or f"http://127.0.0.1:{self._running().server_address[1]}"

    def tally(self) -> Tally:
        """Return what was counted so far; at any time, also after the end."""
        return self._ledger.tally()

    def quiet_seconds(self) -> float:
        """Return the seconds since the last byte of any model call, or since the start."""
        return self._ledger.quiet_seconds()

    def _running(self) -> Server:
        if self._server is None:
            raise RuntimeError("a gateway is used outside its `with`")
        return self._server

    def _desk(self, upstream: Upstream, budget: Budget) -> ModelEndpoint:
        parse(upstream.base_url)
        terms = ExchangeSettings(
            rules=RULES[upstream.dialect],
            ledger=self._ledger,
            key=upstream.key,
            hide=hider(upstream.key),
            silent_seconds=budget.first_byte_seconds,
            drain_seconds=budget.drain_seconds,
        )
        return ModelEndpoint(
            dialect=upstream.dialect,
            terms=terms,
            base_url=upstream.base_url,
            placeholder=self.placeholder,
            model=upstream.model,
            busy=self._busy,
            room=Room(_ROOM_BYTES, wait_seconds=_ROOM_SECONDS),
        )

    @contextmanager
    def _busy(self, line: UpstreamConnection) -> Generator[None]:
        with self._turns:
            with self._idle:
                if self._closing:
                    raise ConnectionAbortedError("the gateway has closed")
                self._lines.add(line)
            try:
                yield
            finally:
                with self._idle:
                    self._lines.discard(line)
                    self._idle.notify_all()

    def _rests(self, seconds: float) -> bool:
        """Wait for all calls to end; tell whether they did in time."""
        with self._idle:
            return self._idle.wait_for(lambda: not self._lines, seconds)
