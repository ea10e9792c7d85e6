"""The gateway as an agent meets it: HTTP over a socket of its own."""

import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Final

from reb_action.gateway.body import Room, read_body, room_for
from reb_action.gateway.dialects import Route
from reb_action.gateway.exchange import Exchange, ExchangeSettings
from reb_action.gateway.json_text import dumps
from reb_action.gateway.request import Asked, Refusal, prepare, route_of
from reb_action.gateway.upstream.connection import UpstreamConnection
from reb_action.model.agent import Dialect

Egress = Callable[[BaseHTTPRequestHandler], None]
"""Answers a CONNECT, or a request of a full URL, whose header was read but not its body."""

_IDLE_SECONDS: Final = 300.0
_NO_BODY: Final = 204
_NO_ROOM: Final = Refusal(status=503, message="the requests under way take all memory there is")
# What JSON becomes in memory may be thirty times its size, so that is done one by one.
_PARSING: Final = threading.Lock()


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelEndpoint:
    """What the handlers of one model share; `busy` surrounds each call of it, and waits its turn.

    `model` is the one that may be asked, any where that is None. `room` is for what is asked.
    """

    dialect: Dialect
    terms: ExchangeSettings
    base_url: str
    placeholder: str = field(repr=False)
    model: str | None
    busy: Callable[[UpstreamConnection], AbstractContextManager[None]]
    room: Room


class Handler(BaseHTTPRequestHandler):
    """One connection of an agent, with one to the model while it lasts."""

    protocol_version = "HTTP/1.1"
    timeout = _IDLE_SECONDS
    desk: ModelEndpoint | None = None
    egress: Egress | None = None

    def setup(self) -> None:
        super().setup()
        self._line = None if self.desk is None else UpstreamConnection(self.desk.base_url)
        self._is_chunked = False

    def finish(self) -> None:
        super().finish()
        if self._line is not None:
            self._line.close()

    def do_POST(self) -> None:
        if self.desk is None or self._line is None or not self.path.startswith("/"):
            self._other()
            return
        with self.desk.room.taking(room_for(self.headers)) as has_room:
            if has_room:
                self._take(self.desk, self._line)
            else:
                self.close_connection = True
                self._refuse(self.desk, _NO_ROOM)

    def _take(self, desk: ModelEndpoint, line: UpstreamConnection) -> None:
        body = read_body(self.rfile, self.headers)
        if isinstance(body, Refusal):
            self.close_connection = True
            self._refuse(desk, body)
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        asked = Asked(target=self.path, headers=headers, body=body)
        route = route_of(desk.terms.rules, desk.dialect, asked, placeholder=desk.placeholder)
        if isinstance(route, Refusal):
            self._refuse(desk, route)
            return
        with desk.busy(line):
            limit = desk.terms.ledger.used_up() or self._ask(desk, line, route, asked)
        if limit is not None:
            # 403, since the agents give up on it at once and try again for long on others.
            self._whole(403, dumps(desk.terms.rules.error(403, limit)))

    def _ask(
        self, desk: ModelEndpoint, line: UpstreamConnection, route: Route, asked: Asked
    ) -> str | None:
        """Make a call, or refuse it; return the limit that it would pass."""
        with _PARSING:
            request = prepare(desk.terms.rules, desk.dialect, route, asked, wanted=desk.model)
        if isinstance(request, Refusal):
            self._refuse(desk, request)
            return None
        limit = desk.terms.ledger.admit(request.model, request.target.encode() + request.body)
        if limit is None:
            Exchange(request, self, line, desk.terms).run()
        return limit

    def _other(self) -> None:
        """Answer what is no call of the model: a way out where there is one, else nothing."""
        self.close_connection = True
        if self.egress is not None and not self.path.startswith("/"):
            self.egress(self)
        else:
            self._whole(404, dumps({"error": {"message": "the gateway has no such route"}}))

    do_GET = do_HEAD = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_CONNECT = _other  # noqa: N815

    def _refuse(self, desk: ModelEndpoint, refusal: Refusal) -> None:
        desk.terms.ledger.stray(f"{refusal.status}: {refusal.message}")
        self._whole(refusal.status, dumps(desk.terms.rules.error(refusal.status, refusal.message)))

    def _whole(self, status: int, body: bytes) -> None:
        self.start(status, {"content-type": "application/json"}, len(body))
        if self.command != "HEAD":
            self.write(body)

    def start(self, status: int, headers: Mapping[str, str], length: int | None) -> None:
        """Begin an answer, of unknown length where that is None."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self._is_chunked = length is None and self.request_version != "HTTP/1.0"
        if self._is_chunked:
            self.send_header("transfer-encoding", "chunked")
        elif length is None:
            self.close_connection = True
        elif status != _NO_BODY:
            self.send_header("content-length", str(length))
        if self.close_connection:
            self.send_header("connection", "close")
        self.end_headers()

    def write(self, data: bytes) -> None:
        """Pass on a part of it, at once."""
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data) if self._is_chunked else data)

    def end(self, *, whole: bool) -> None:
        """End it, or break it off so that the agent sees that it is not whole."""
        if self._is_chunked and whole:
            self.wfile.write(b"0\r\n\r\n")
        self.close_connection = self.close_connection or not whole

    def version_string(self) -> str:
        """Name neither our version nor Python's."""
        return "researchenvbench"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Keep still: the record has the calls, and standard error is for people."""
