"""One gateway: it listens for one trial's agent, and ends with it."""

import secrets
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from types import TracebackType
from typing import Self

from reb_action.gateway.prices import Prices
from reb_action.gateway.values import Budget, Upstream
from reb_action.model.agent import Tally

Egress = Callable[[BaseHTTPRequestHandler], None]
"""Answers a CONNECT or absolute-form request, given right after its header was read."""


class Gateway:
    """Speaks to the model for an agent which knows only `address` and `placeholder`.

    It listens from `with` on, at the Unix socket `listen` or, without, at a port of the loopback.
    `record` gets one JSON line per call, without its text.
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
        self._listen = listen

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop listening; calls under way get some seconds to say what they used."""

    @property
    def address(self) -> Path | str:
        """Where it listens: the socket's path, or `http://127.0.0.1:PORT`."""
        return self._listen or "http://127.0.0.1:0"

    def tally(self) -> Tally:
        """Return what was counted so far; at any time, also after the end."""
        return Tally()

    def quiet_seconds(self) -> float:
        """Return the seconds since the last byte of any model call, or since the start."""
        return 0.0
