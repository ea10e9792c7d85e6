"""Asks a model once, at the lowest cost that its API allows: are key, name and address right?"""

import json
import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from reb_action.documents import Json
from reb_action.gateway.conversation import CONTENT
from reb_action.gateway.dialects import DIALECTS
from reb_action.gateway.exchange import Exchange, ExchangeSettings
from reb_action.gateway.ledger import Ledger
from reb_action.gateway.prices import Prices
from reb_action.gateway.request import ModelRequest
from reb_action.gateway.settings import Budget, Upstream
from reb_action.gateway.upstream.connection import UpstreamConnection, parse_base_url
from reb_action.gateway.upstream.key_redaction import AnswerRedactor, build_redactor
from reb_action.model.agent import Dialect, Tally

AGENT_NAME: Final = "researchenvbench-preflight"
"""The User-Agent of the request, by which a vendor's log distinguishes it from the agent's."""

_SILENT_SECONDS: Final = 60.0
# A short overload is waited out, as during the trial; a longer one would keep an agent waiting.
_RETRY_SECONDS: Final = 30.0
_HEADERS: Final = {"content-type": "application/json", "user-agent": AGENT_NAME}
_TEXT: Final = "."
# OpenAI's newer models refuse max_tokens, and its imitators do not know the new name.
_OPENAI_HOSTS: Final = ("api.openai.com", ".azure.com")


@dataclass(frozen=True, kw_only=True, slots=True)
class Preflight:
    """What one request showed: its duration, and the gateway's counts of it."""

    seconds: float
    tally: Tally


class _Nobody:
    """A client that needs no answer."""

    def start(self, status: int, headers: Mapping[str, str], length: int | None) -> None:
        """Take status and headers."""

    def write(self, data: bytes) -> None:
        """Take a part of the body."""

    def end(self, *, complete: bool) -> None:
        """Take the end of the body."""

    def is_open(self) -> bool:
        """Return that the answer is still waited for."""
        return True


def ask_once(
    upstream: Upstream, model: str, prices: Prices, *, retry_seconds: float = _RETRY_SECONDS
) -> Preflight:
    """Ask for one token of an answer; raises UsageError for an invalid URL, no network error.

    A request that the vendor rejects shows as much as an answer: it knows the key and the model.
    """
    begun = time.monotonic()
    ledger = Ledger(Budget(), prices, Path(os.devnull))
    request = _request(upstream, model)
    ledger.admit_call(model, request.body)
    connection = UpstreamConnection(upstream.base_url)
    try:
        settings = _settings(upstream, ledger, retry_seconds)
        Exchange(request, _Nobody(), connection, settings).run()
    finally:
        connection.close()
    return Preflight(seconds=round(time.monotonic() - begun, 3), tally=ledger.tally())


def _settings(upstream: Upstream, ledger: Ledger, retry_seconds: float) -> ExchangeSettings:
    return ExchangeSettings(
        rules=DIALECTS[upstream.dialect],
        content=CONTENT[upstream.dialect],
        conversation=None,
        ledger=ledger,
        key=upstream.key,
        redact=build_redactor(upstream.key),
        redactor=AnswerRedactor(upstream.key),
        host=parse_base_url(upstream.base_url).hostname or "",
        closing=threading.Event(),
        silent_seconds=_SILENT_SECONDS,
        retry_seconds=retry_seconds,
        drain_seconds=0.0,
    )


def _request(upstream: Upstream, model: str) -> ModelRequest:
    path, body = _question(upstream, model)
    rules = DIALECTS[upstream.dialect]
    route = rules.find_route(path)
    if route is None:
        raise RuntimeError(f"the dialect {upstream.dialect} has no route {path}")
    is_anthropic = upstream.dialect is Dialect.ANTHROPIC
    version = {"anthropic-version": "2023-06-01"} if is_anthropic else {}
    return ModelRequest(
        route=route,
        path=path,
        target=path.removeprefix(route.prefix),
        model=model,
        body=json.dumps(body).encode(),
        headers={**_HEADERS, **version},
        max_output=rules.read_max_output(body),
    )


def _question(upstream: Upstream, model: str) -> tuple[str, Json]:
    """Return path and body of the cheapest request of a dialect."""
    messages: list[Json] = [{"role": "user", "content": _TEXT}]
    match upstream.dialect:
        case Dialect.ANTHROPIC:
            return "/v1/messages", {"model": model, "max_tokens": 1, "messages": messages}
        case Dialect.CHAT:
            host = parse_base_url(upstream.base_url).hostname or ""
            is_openai = host.endswith(_OPENAI_HOSTS)
            limit = "max_completion_tokens" if is_openai else "max_tokens"
            return "/v1/chat/completions", {"model": model, limit: 1, "messages": messages}
        case Dialect.RESPONSES:
            # The least that this API takes.
            body: Json = {"model": model, "max_output_tokens": 16, "input": _TEXT, "store": False}
            return "/v1/responses", body
        case Dialect.GEMINI:
            contents: list[Json] = [{"role": "user", "parts": [{"text": _TEXT}]}]
            body = {"contents": contents, "generationConfig": {"maxOutputTokens": 1}}
            return f"/v1beta/models/{model}:generateContent", body
