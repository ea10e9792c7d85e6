"""One request on its way to the model, and the answer on its way back to the agent."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from reb_action.gateway.dialects import Rules
from reb_action.gateway.json_text import dumps, loads, short, text
from reb_action.gateway.ledger import Call, CallStatus, Ledger
from reb_action.gateway.request import Request
from reb_action.gateway.upstream.connection import UpstreamConnection
from reb_action.gateway.upstream.meter import Meter
from reb_action.gateway.upstream.response import Answer
from reb_action.gateway.upstream.usage import Reading

_ERROR_BYTES: Final = 1024 * 1024
_ERROR: Final = 400
_OK: Final = range(200, 300)
_BAD_GATEWAY: Final = 502
_TIMEOUT: Final = 504
# RFC 9110, 7.6.1; what we say ourselves; and what would set state at the agent.
_DROPPED: Final = frozenset(
    {
        *("connection", "keep-alive", "proxy-authenticate", "proxy-connection", "te", "trailer"),
        *("transfer-encoding", "upgrade", "content-length", "set-cookie", "date", "server"),
    }
)


class Client(Protocol):
    """The agent's side of it; each raises OSError when the agent has hung up."""

    def start(self, status: int, headers: Mapping[str, str], length: int | None) -> None:
        """Begin an answer, of unknown length where that is None."""
        ...

    def write(self, data: bytes) -> None:
        """Pass on a part of it, at once."""
        ...

    def end(self, *, whole: bool) -> None:
        """End it, or break it off so that the agent sees that it is not whole."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class ExchangeSettings:
    """What all exchanges of a gateway share; `hide` takes the key out of what is passed on."""

    rules: Rules
    ledger: Ledger
    key: str = field(repr=False)
    hide: Callable[[str], str]
    silent_seconds: float
    drain_seconds: float


class Exchange:
    """Carries out one admitted request; however that goes, the ledger gets its call."""

    def __init__(
        self, request: Request, client: Client, line: UpstreamConnection, terms: ExchangeSettings
    ) -> None:
        self._request = request
        self._client = client
        self._terms = terms
        self._began = time.monotonic()
        self._gone = False
        self._answer = Answer(
            line, silent_seconds=terms.silent_seconds, heard=terms.ledger.touch
        )  # fmt: skip

    def run(self) -> None:
        """Ask, and pass on what comes; raises nothing that a network does."""
        request, answer, terms = self._request, self._answer, self._terms
        headers = {**request.headers, **terms.rules.key_headers(terms.key)}
        if not answer.ask(request.target, request.body, headers):
            self._fail()
        elif answer.status in _OK:
            self._pass()
        else:
            self._refuse()
        answer.close()

    def _pass(self) -> None:
        answer, hides = self._answer, self._request.hides_usage
        streams = answer.headers.get("content-type", "").startswith("text/event-stream")
        meter = Meter(self._terms.rules.read, events=streams, hide=hides)
        length = None if hides and streams else answer.length
        self._tell(lambda: self._client.start(answer.status, self._headers(), length))
        while data := answer.read():
            if answer.length == 0:
                break
            self._write(meter.feed(data))
        # The end goes out when the call is in the ledger, so that the next one finds it there.
        last = meter.feed(data) + meter.finish()
        self._close(answer.status, *self._course(meter.reading), reading=meter.reading)
        self._write(last)
        self._tell(lambda: self._client.end(whole=answer.is_whole))

    def _course(self, reading: Reading) -> tuple[CallStatus, str | None]:
        answer = self._answer
        if answer.is_whole and (reading.ended or not self._request.route.generates):
            return (CallStatus.LEFT if self._gone else CallStatus.WHOLE), None
        if answer.is_silent and not self._gone:
            return (
                CallStatus.SILENT,
                f"the model fell silent for {self._terms.silent_seconds} seconds",
            )
        return CallStatus.CUT, "the answer of the model was cut"

    def _refuse(self) -> None:
        """Pass on an error, without the key that some of them quote."""
        answer = self._answer
        body = bytearray()
        while len(body) <= _ERROR_BYTES and (data := answer.read()):
            body += data
        if answer.status < _ERROR:
            message = f"the model answered with {answer.status}, which the gateway does not follow"
            self._say(_BAD_GATEWAY, CallStatus.ERROR, message)
            return
        shown = self._terms.hide(bytes(body).decode("utf-8", "replace")).encode()
        said = text(loads(shown), "error", "message") or text(loads(shown), "message")
        self._close(
            answer.status, CallStatus.ERROR, self._terms.hide(said) or "the model refused the call"
        )
        self._whole(answer.status, self._headers(), shown)

    def _fail(self) -> None:
        answer = self._answer
        if answer.is_silent:
            message = f"the model sent nothing for {self._terms.silent_seconds} seconds"
            self._say(_TIMEOUT, CallStatus.SILENT, message)
        else:
            fault = f"{type(answer.fault).__name__}: {answer.fault}"
            message = f"the model cannot be reached ({self._terms.hide(fault)})"
            self._say(_BAD_GATEWAY, CallStatus.UNREACHABLE, message)

    def _say(self, status: int, course: CallStatus, message: str) -> None:
        self._close(status, course, message)
        body = dumps(self._terms.rules.error(status, short(message)))
        self._whole(status, {"content-type": "application/json"}, body)

    def _whole(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self._tell(lambda: self._client.start(status, headers, len(body)))
        self._write(body)
        self._tell(lambda: self._client.end(whole=True))

    def _headers(self) -> dict[str, str]:
        found = self._answer.headers.items()
        return {name: self._terms.hide(value) for name, value in found if name not in _DROPPED}

    def _write(self, data: bytes) -> None:
        if data:
            self._tell(lambda: self._client.write(data))

    def _tell(self, say: Callable[[], None]) -> None:
        """Say something to the agent; once it is gone, only what the call used is of interest."""
        if self._gone:
            return
        try:
            say()
        except OSError:
            self._gone = True
            self._answer.expect(self._terms.drain_seconds)

    def _close(
        self, status: int, course: CallStatus, error: str | None, *, reading: Reading | None = None
    ) -> None:
        call = Call(
            route=self._request.path,
            model=self._request.model,
            status=status,
            course=course,
            began=self._began,
            first_byte=self._answer.first_byte,
            sent=len(self._request.body),
            received=self._answer.received,
            reading=reading or Reading(),
            error=error,
        )
        self._terms.ledger.close(call, generates=self._request.route.generates)
