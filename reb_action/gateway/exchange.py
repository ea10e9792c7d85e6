"""One model call: forwards the request to the vendor and the answer to the agent."""

import time
from collections.abc import Callable, Mapping
from typing import Final

from reb_action.documents import Json
from reb_action.gateway.call import CallStatus, ModelCall
from reb_action.gateway.client import Client
from reb_action.gateway.conversation.content import AnswerContent
from reb_action.gateway.exchange_settings import ExchangeSettings
from reb_action.gateway.fault import classify_answer, classify_exception
from reb_action.gateway.json_text import encode_json, get_text, parse_json, shorten
from reb_action.gateway.request import ModelRequest
from reb_action.gateway.upstream.connection import UpstreamConnection
from reb_action.gateway.upstream.meter import AnswerMeter
from reb_action.gateway.upstream.response import UpstreamResponse
from reb_action.gateway.upstream.retry import find_wait, wait_for_model
from reb_action.gateway.upstream.usage import AnswerSummary
from reb_action.model.fault import FaultCause

_ERROR_BYTES: Final = 1024 * 1024
_FIRST_ERROR: Final = 400
_SUCCESS: Final = range(200, 300)
_CAUSES: Final = {
    CallStatus.CUT: FaultCause.CONNECTION_CUT,
    CallStatus.SILENT: FaultCause.MODEL_SILENT,
    CallStatus.FAILED: FaultCause.ANSWER_FAILED,
}
_NO_ANSWER: Final = "the response is not an answer of a model"
_BAD_GATEWAY: Final = 502
_GATEWAY_TIMEOUT: Final = 504
# Hop-by-hop headers (RFC 9110, 7.6.1), headers that the gateway sets itself, and cookies.
_DROPPED_HEADERS: Final = frozenset(
    {
        *("connection", "keep-alive", "proxy-authenticate", "proxy-connection", "te", "trailer"),
        *("transfer-encoding", "upgrade", "content-length", "set-cookie", "date", "server"),
    }
)


class Exchange:
    """Carries out one admitted call and records it in the ledger, also after an error."""

    def __init__(
        self, request: ModelRequest, client: Client, connection: UpstreamConnection,
        settings: ExchangeSettings,
    ) -> None:  # fmt: skip
        self._request = request
        self._client = client
        self._connection = connection
        self._settings = settings
        self._started = time.monotonic()
        self._waited = 0.0
        self._client_left = False
        self._content = AnswerContent()
        self._response = self._new_response()

    def run(self) -> None:
        """Send the request and forward the answer; raises no network error."""
        attempt = 0
        while not self._try_once(attempt):
            self._response = self._new_response()
            attempt += 1
        self._response.close()

    def _new_response(self) -> UpstreamResponse:
        return UpstreamResponse(
            self._connection,
            silent_seconds=self._settings.silent_seconds,
            on_data=self._settings.ledger.record_activity,
        )

    def _try_once(self, attempt: int) -> bool:
        """Send the request; return False to send it again after waiting for an overloaded model."""
        request, response, settings = self._request, self._response, self._settings
        headers = {**request.headers, **settings.rules.key_headers(settings.key, settings.host)}
        if not response.send(request.target, request.body, headers):
            self._report_network_error()
        elif response.status in _SUCCESS:
            self._forward_answer()
        else:
            body = response.read_all(_ERROR_BYTES)
            error = parse_json(body)
            wait = find_wait(response.status, response.headers, error, attempt=attempt)
            if wait is not None and self._wait(wait, classify_answer(response.status, error)):
                return False
            self._forward_error(body)
        return True

    def _wait(self, seconds: float, cause: FaultCause) -> bool:
        """Wait before the next attempt; return False if the agent should get the error instead."""
        settings = self._settings
        if self._waited + seconds > settings.retry_seconds:
            return False
        self._response.close()
        if not wait_for_model(
            seconds,
            closing=settings.closing,
            is_open=self._client.is_open,
            on_wait=settings.ledger.record_activity,
        ):
            return False
        self._waited += seconds
        settings.ledger.record_retry(self._response.status, seconds, cause)
        return True

    def _forward_answer(self) -> None:
        response = self._response
        is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
        drops = self._request.drop_usage_event
        meter = AnswerMeter(
            self._read_answer,
            self._settings.redactor,
            is_stream=is_stream,
            drop_usage_event=drops,
        )
        length = None if drops and is_stream else response.length
        self._send(lambda: self._client.start(response.status, self._headers(), length))
        while data := response.read():
            if response.length == 0:
                break
            self._write(meter.feed(data))
        # The call is recorded before the agent gets the end of the answer: the agent's next call
        # must be checked against it.
        last = meter.feed(data) + meter.finish()
        status, error = self._call_status(meter.summary, is_stream=is_stream)
        cause = FaultCause.ADDRESS_WRONG if error == _NO_ANSWER else _CAUSES.get(status)
        self._record(response.status, status, error, cause, summary=meter.summary)
        self._write(last)
        self._send(lambda: self._client.end(complete=response.is_complete))

    def _read_answer(self, value: Json, summary: AnswerSummary) -> None:
        self._settings.rules.read_answer(value, summary)
        self._settings.content.read_answer(value, self._content)

    def _call_status(
        self, summary: AnswerSummary, *, is_stream: bool
    ) -> tuple[CallStatus, str | None]:
        response = self._response
        is_whole = response.is_complete and not is_stream and self._request.route.generates
        if is_whole and summary == AnswerSummary():
            return CallStatus.FAILED, _NO_ANSWER
        if response.is_complete and summary.error is not None:
            return CallStatus.FAILED, None
        if response.is_complete and (summary.ended or not self._request.route.generates):
            return (CallStatus.LEFT if self._client_left else CallStatus.WHOLE), None
        if response.timed_out and not self._client_left:
            seconds = self._settings.silent_seconds
            return CallStatus.SILENT, f"the model's answer stalled for {seconds} seconds"
        return CallStatus.CUT, "the model's answer was cut short"

    def _forward_error(self, body: bytes) -> None:
        """Forward an error of the vendor without the API key, which some errors quote."""
        response = self._response
        if response.status < _FIRST_ERROR:
            message = f"the model answered with {response.status}; redirects are not followed"
            self._send_error(_BAD_GATEWAY, CallStatus.ERROR, message, FaultCause.ADDRESS_WRONG)
            return
        redact = self._settings.redact
        text = redact(body.decode("utf-8", "replace")).encode()
        error = parse_json(text)
        message = redact(get_text(error, "error", "message") or get_text(error, "message"))
        cause = classify_answer(response.status, error)
        message = message or "the model refused the call"
        self._record(response.status, CallStatus.ERROR, message, cause)
        self._send_whole(response.status, self._headers(), text)

    def _report_network_error(self) -> None:
        response = self._response
        if response.timed_out:
            message = f"the model sent nothing for {self._settings.silent_seconds} seconds"
            cause = FaultCause.MODEL_SILENT if response.request_sent else FaultCause.UNREACHABLE
            self._send_error(_GATEWAY_TIMEOUT, CallStatus.SILENT, message, cause)
            return
        error = self._settings.redact(f"{type(response.error).__name__}: {response.error}")
        status, what = CallStatus.UNREACHABLE, "the model cannot be reached"
        if response.request_sent and response.status < _FIRST_ERROR:
            status, what = CallStatus.CUT, "the model closed the connection without an answer"
        cause = classify_exception(response.error, sent=response.request_sent)
        self._send_error(_BAD_GATEWAY, status, f"{what} ({error})", cause)

    def _send_error(
        self, http_status: int, status: CallStatus, message: str, cause: FaultCause
    ) -> None:
        """Record a failed call and answer it with an error of the gateway."""
        self._record(http_status, status, message, cause)
        body = encode_json(self._settings.rules.build_error(http_status, shorten(message)))
        self._send_whole(http_status, {"content-type": "application/json"}, body)

    def _send_whole(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self._send(lambda: self._client.start(status, headers, len(body)))
        self._write(body)
        self._send(lambda: self._client.end(complete=True))

    def _headers(self) -> dict[str, str]:
        headers = self._response.headers.items()
        redact = self._settings.redact
        return {name: redact(value) for name, value in headers if name not in _DROPPED_HEADERS}

    def _write(self, data: bytes) -> None:
        if data:
            self._send(lambda: self._client.write(data))

    def _send(self, send: Callable[[], None]) -> None:
        """Send to the agent; if it closed the connection, only read on for the usage."""
        if self._client_left:
            return
        try:
            send()
        except OSError:
            self._client_left = True
            self._response.set_deadline(self._settings.drain_seconds)

    def _record(
        self,
        http_status: int,
        status: CallStatus,
        error: str | None,
        cause: FaultCause | None,
        *,
        summary: AnswerSummary | None = None,
    ) -> None:
        call = ModelCall(
            route=self._request.path,
            model=self._request.model,
            http_status=http_status,
            status=status,
            started=self._started,
            first_byte=self._response.first_byte,
            sent=len(self._request.body),
            received=self._response.received,
            max_output=self._request.max_output,
            summary=summary or AnswerSummary(),
            error=error,
            # A cut by the agent or by the end of the trial is not a failure of the model.
            cause=None if self._client_left or self._settings.closing.is_set() else cause,
        )
        settings, generates = self._settings, self._request.route.generates
        cost_usd = settings.ledger.record_call(call, generates=generates)
        if settings.conversation is not None and generates:
            settings.conversation.add(call, self._request.messages, self._content, cost_usd)
