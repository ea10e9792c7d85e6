"""Reads usage and tool calls from an answer while it is forwarded without the API key."""

from collections.abc import Callable
from typing import Final

from reb_action.documents import Json
from reb_action.gateway.json_text import get_list, get_value, parse_json
from reb_action.gateway.upstream.key_redaction import AnswerRedactor
from reb_action.gateway.upstream.sse import EventParser
from reb_action.gateway.upstream.usage import AnswerSummary

_JSON_BYTES: Final = 64 * 1024 * 1024


class AnswerMeter:
    """Takes the bytes of an answer and returns those to forward; `summary` holds the result.

    A stream is forwarded event by event. `drop_usage_event` removes the event of an OpenAI stream
    that holds only usage: a client that did not ask for it may fail on an event without choices.
    """

    def __init__(
        self,
        read: Callable[[Json, AnswerSummary], None],
        redactor: AnswerRedactor,
        *,
        is_stream: bool,
        drop_usage_event: bool,
    ) -> None:
        self.summary = AnswerSummary()
        self._read = read
        self._redactor = redactor
        self._parser = EventParser() if is_stream else None
        self._drop_usage_event = drop_usage_event
        self._body = bytearray()
        self._held = b""

    def feed(self, data: bytes) -> bytes:
        """Read the next bytes of the answer; return those that can be forwarded now."""
        if self._parser is None:
            if len(self._body) <= _JSON_BYTES:
                self._body += data
            return self._release(data, keep=self._redactor.longest)
        events = [event.raw for event in self._parser.feed(data) if self._read_event(event.data)]
        return self._redactor.redact(b"".join(events))

    def finish(self) -> bytes:
        """Read the rest at the end of the answer; return the bytes not forwarded yet."""
        if self._parser is None:
            self._read(parse_json(bytes(self._body)), self.summary)
            self._body.clear()
            return self._release(b"", keep=0)
        rest = self._parser.finish()
        return self._redactor.redact(rest.raw) if self._read_event(rest.data) else b""

    def _release(self, data: bytes, *, keep: int) -> bytes:
        """Redact, and hold back the end, because a key may begin there."""
        redacted = self._redactor.redact(self._held + data)
        end = max(len(redacted) - keep, 0)
        self._held = redacted[end:]
        return redacted[:end]

    def _read_event(self, data: bytes) -> bool:
        """Read an event; return False if it is to be dropped."""
        value = parse_json(data) if data.startswith(b"{") else None
        if value is None:
            return True
        self._read(value, self.summary)
        has_only_usage = not get_list(value, "choices") and get_value(value, "usage") is not None
        return not (self._drop_usage_event and has_only_usage)
