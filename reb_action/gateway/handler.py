"""The HTTP server side of the gateway: one handler per connection of the agent."""

import select
import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Final

from reb_action.gateway.body import BodyMemory, max_body_size, read_body
from reb_action.gateway.dialects import Route
from reb_action.gateway.exchange import Exchange
from reb_action.gateway.exchange_settings import ExchangeSettings
from reb_action.gateway.json_text import encode_json
from reb_action.gateway.request import (
    AgentRequest,
    ModelRequest,
    Refusal,
    build_request,
    find_route,
)
from reb_action.gateway.settings import HostedTools
from reb_action.gateway.upstream.connection import UpstreamConnection
from reb_action.model.agent import Dialect

EgressHandler = Callable[[BaseHTTPRequestHandler], None]
"""Answers a proxy request (CONNECT, or a full URL); its body has not been read yet."""

_IDLE_SECONDS: Final = 300.0
_NO_CONTENT: Final = 204
_NO_MEMORY: Final = Refusal(
    status=503, message="too many large requests at the same time; retry later"
)
# Parsed JSON can take thirty times its size in memory, so only one body is parsed at a time.
_PARSING: Final = threading.Lock()


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelEndpoint:
    """The model, shared by all handlers.

    `model` is the only model allowed (None allows any). `hosted_tools`: what happens to tools of
    the vendor. `call_slot` surrounds each call and limits how many run at once.
    """

    dialect: Dialect
    settings: ExchangeSettings
    base_url: str
    placeholder: str = field(repr=False)
    model: str | None
    hosted_tools: HostedTools
    call_slot: Callable[[UpstreamConnection], AbstractContextManager[None]]
    memory: BodyMemory


class Handler(BaseHTTPRequestHandler):
    """One connection of an agent, with its own connection to the model."""

    protocol_version = "HTTP/1.1"
    timeout = _IDLE_SECONDS
    endpoint: ModelEndpoint | None = None
    egress: EgressHandler | None = None

    def setup(self) -> None:
        super().setup()
        endpoint = self.endpoint
        self._upstream = None if endpoint is None else UpstreamConnection(endpoint.base_url)
        self._is_chunked = False

    def finish(self) -> None:
        super().finish()
        if self._upstream is not None:
            self._upstream.close()

    def do_POST(self) -> None:
        if self.endpoint is None or self._upstream is None or not self.path.startswith("/"):
            self._answer_other()
            return
        with self.endpoint.memory.reserve(max_body_size(self.headers)) as reserved:
            if reserved:
                self._answer_post(self.endpoint, self._upstream)
            else:
                self.close_connection = True
                self._refuse(self.endpoint, _NO_MEMORY)

    def _answer_post(self, endpoint: ModelEndpoint, upstream: UpstreamConnection) -> None:
        body = read_body(self.rfile, self.headers)
        if isinstance(body, Refusal):
            self.close_connection = True
            self._refuse(endpoint, body)
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = AgentRequest(target=self.path, headers=headers, body=body)
        rules = endpoint.settings.rules
        route = find_route(rules, endpoint.dialect, request, placeholder=endpoint.placeholder)
        if isinstance(route, Refusal):
            self._refuse(endpoint, route)
            return
        with endpoint.call_slot(upstream):
            limit = endpoint.settings.ledger.find_limit() or self._call_model(
                endpoint, upstream, route, request
            )
        if limit is not None:
            # Agents stop at once on 403; on most other codes they retry for a long time.
            self._send_json(403, encode_json(rules.build_error(403, limit)))

    def _call_model(
        self,
        endpoint: ModelEndpoint,
        upstream: UpstreamConnection,
        route: Route,
        request: AgentRequest,
    ) -> str | None:
        """Make a model call or refuse it; return the limit that the call would exceed."""
        with _PARSING:
            call = self._build_request(endpoint, route, request)
        if isinstance(call, Refusal):
            self._refuse(endpoint, call)
            return None
        ledger = endpoint.settings.ledger
        body = call.target.encode() + call.body
        limit = ledger.admit_call(call.model, body, call.step, max_output=call.max_output)
        if limit is None:
            is_removed = endpoint.hosted_tools is HostedTools.REMOVE
            ledger.record_hosted_tools(call.hosted_tools, removed=is_removed)
            Exchange(call, self, upstream, endpoint.settings).run()
        return limit

    def _build_request(
        self, endpoint: ModelEndpoint, route: Route, request: AgentRequest
    ) -> ModelRequest | Refusal:
        return build_request(
            endpoint.settings.rules,
            endpoint.dialect,
            route,
            request,
            allowed_model=endpoint.model,
            hosted_tools=endpoint.hosted_tools,
        )

    def _answer_other(self) -> None:
        """Answer a request that is not a model call: by the proxy if there is one, else 404."""
        self.close_connection = True
        if self.egress is not None and not self.path.startswith("/"):
            self.egress(self)
        else:
            self._send_json(404, encode_json({"error": {"message": "no such route"}}))

    do_GET = do_HEAD = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_CONNECT = _answer_other  # noqa: N815

    def _refuse(self, endpoint: ModelEndpoint, refusal: Refusal) -> None:
        settings = endpoint.settings
        settings.ledger.record_refusal(f"{refusal.status}: {refusal.message}")
        error = settings.rules.build_error(refusal.status, refusal.message)
        self._send_json(refusal.status, encode_json(error))

    def _send_json(self, status: int, body: bytes) -> None:
        self.start(status, {"content-type": "application/json"}, len(body))
        if self.command != "HEAD":
            self.write(body)

    def start(self, status: int, headers: Mapping[str, str], length: int | None) -> None:
        """Send status and headers; `length` is None if unknown."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self._is_chunked = length is None and self.request_version != "HTTP/1.0"
        if self._is_chunked:
            self.send_header("transfer-encoding", "chunked")
        elif length is None:
            self.close_connection = True
        elif status != _NO_CONTENT:
            self.send_header("content-length", str(length))
        if self.close_connection:
            self.send_header("connection", "close")
        self.end_headers()

    def write(self, data: bytes) -> None:
        """Send a part of the body at once."""
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data) if self._is_chunked else data)

    def end(self, *, complete: bool) -> None:
        """End the body; an incomplete one is cut so that the agent notices."""
        if self._is_chunked and complete:
            self.wfile.write(b"0\r\n\r\n")
        self.close_connection = self.close_connection or not complete

    def is_open(self) -> bool:
        """Return whether the agent still waits: a closed connection is readable at its end."""
        poll = select.poll()
        poll.register(self.connection, select.POLLIN)
        if not poll.poll(0):
            return True
        try:
            return bool(self.connection.recv(1, socket.MSG_PEEK))
        except OSError:
            return False

    def version_string(self) -> str:
        """Return a server name without versions."""
        return "researchenvbench"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Print nothing: model-calls.jsonl records the calls."""
