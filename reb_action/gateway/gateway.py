"""The gateway of one trial: listens for the agent from start to end."""

import secrets
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from reb_action.gateway.body import BodyMemory
from reb_action.gateway.conversation import CONTENT
from reb_action.gateway.conversation.record import Conversation, Turn
from reb_action.gateway.dialects import DIALECTS
from reb_action.gateway.exchange_settings import ExchangeSettings
from reb_action.gateway.handler import EgressHandler, Handler, ModelEndpoint
from reb_action.gateway.ledger import Ledger
from reb_action.gateway.prices import Prices
from reb_action.gateway.server import Server
from reb_action.gateway.settings import Budget, Upstream
from reb_action.gateway.upstream.connection import UpstreamConnection, parse_base_url
from reb_action.gateway.upstream.key_redaction import AnswerRedactor, build_redactor
from reb_action.model.agent import Tally

_POLL_SECONDS: Final = 0.05
_ABORT_SECONDS: Final = 2.0
_MEMORY_BYTES: Final = 128 * 1024 * 1024
_MEMORY_WAIT_SECONDS: Final = 60.0
# Parallel calls can exceed a budget, since usage is known only when a call ends; this many at most.
_PARALLEL_CALLS: Final = 4


class Gateway:
    """Connects an agent, which knows only `address` and `placeholder`, to its model.

    It listens while its `with` lasts, at the Unix socket `listen` or at a loopback port. Without
    `upstream` it is only the proxy `egress`. `record` gets one JSON line per call, without text,
    `conversation` one with its text, and `on_turn` gets the call in the call's thread. Raises
    UsageError for an invalid URL, PlaceError for a socket that cannot be created.

    `saved` keeps the counts, which a later gateway of the trial continues; `elapsed_seconds` of the
    agent's time have passed before this one.
    """

    def __init__(
        self,
        upstream: Upstream | None,
        budget: Budget,
        *,
        prices: Prices,
        record: Path,
        listen: Path | None,
        egress: EgressHandler | None = None,
        conversation: Path | None = None,
        on_turn: Callable[[Turn], None] = lambda _: None,
        saved: Path | None = None,
        elapsed_seconds: float = 0.0,
    ) -> None:
        self.placeholder = f"reb-{secrets.token_hex(24)}"
        self._drain_seconds = budget.drain_seconds
        self._listen = listen
        self._ledger = Ledger(budget, prices, record, saved=saved)
        self._changed = threading.Condition()
        self._active: dict[UpstreamConnection, float] = {}
        self._closing = threading.Event()
        counts_usage = budget.tokens is not None or budget.cost_usd is not None
        self._slots = threading.Semaphore(_PARALLEL_CALLS) if counts_usage else nullcontext()
        self._conversation = None
        if conversation is not None and upstream is not None:
            self._conversation = Conversation(
                conversation,
                secrets=(upstream.key, self.placeholder),
                on_turn=on_turn,
                elapsed_seconds=elapsed_seconds,
            )
        endpoint = None if upstream is None else self._build_endpoint(upstream, budget)
        proxy = None if egress is None else staticmethod(egress)
        self._handler = type("TrialHandler", (Handler,), {"endpoint": endpoint, "egress": proxy})
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
        """Stop listening; calls in progress get `drain_seconds` to report their usage.

        After an interrupt they get none: a runner that cancels a job kills slow processes.
        """
        self._closing.set()
        self._ledger.stop_clock()
        server = self._get_server()
        server.shutdown()
        server.server_close()
        if self._listen is not None:
            self._listen.unlink(missing_ok=True)
        if not self._wait_for_calls(self._drain_seconds if kind is None else 0.0):
            for connection in tuple(self._active):
                connection.abort()
            self._wait_for_calls(_ABORT_SECONDS)
        server.close_connections()

    @property
    def address(self) -> Path | str:
        """The socket's path, or `http://127.0.0.1:PORT`."""
        return self._listen or f"http://127.0.0.1:{self._get_server().server_address[1]}"

    def tally(self) -> Tally:
        """Return the counts so far; callable at any time, also after the end."""
        return self._ledger.tally()

    def quiet_seconds(self) -> float:
        """Return the seconds since the model last sent data, or since the start."""
        return self._ledger.quiet_seconds()

    def pending_seconds(self) -> float:
        """Return for how long the oldest call in progress has waited for its end; 0 without one."""
        with self._changed:
            oldest = min(self._active.values(), default=None)
        return 0.0 if oldest is None else time.monotonic() - oldest

    def _get_server(self) -> Server:
        if self._server is None:
            raise RuntimeError("the gateway is used outside its `with`")
        return self._server

    def _build_endpoint(self, upstream: Upstream, budget: Budget) -> ModelEndpoint:
        url = parse_base_url(upstream.base_url)
        settings = ExchangeSettings(
            rules=DIALECTS[upstream.dialect],
            content=CONTENT[upstream.dialect],
            ledger=self._ledger,
            conversation=self._conversation,
            key=upstream.key,
            redact=build_redactor(upstream.key),
            redactor=AnswerRedactor(upstream.key),
            host=url.hostname or "",
            closing=self._closing,
            silent_seconds=budget.first_byte_seconds,
            retry_seconds=budget.retry_seconds,
            drain_seconds=budget.drain_seconds,
        )
        return ModelEndpoint(
            dialect=upstream.dialect,
            settings=settings,
            base_url=upstream.base_url,
            placeholder=self.placeholder,
            model=upstream.model,
            hosted_tools=upstream.hosted_tools,
            call_slot=self._take_slot,
            memory=BodyMemory(_MEMORY_BYTES, wait_seconds=_MEMORY_WAIT_SECONDS),
        )

    @contextmanager
    def _take_slot(self, connection: UpstreamConnection) -> Generator[None]:
        with self._slots:
            with self._changed:
                if self._closing.is_set():
                    raise ConnectionAbortedError("the gateway is closed")
                self._active[connection] = time.monotonic()
            try:
                yield
            finally:
                with self._changed:
                    self._active.pop(connection, None)
                    self._changed.notify_all()

    def _wait_for_calls(self, seconds: float) -> bool:
        """Wait until no call is in progress; return False after `seconds`."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._active, seconds)
