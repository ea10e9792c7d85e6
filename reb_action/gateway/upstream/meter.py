"""Reads usage and tool calls from an answer while it is forwarded."""

from collections.abc import Callable
from typing import Final

from reb_action.documents import Json
from reb_action.gateway.json_text import get_list, get_value, parse_json
from reb_action.gateway.upstream.sse import EventParser
from reb_action.gateway.upstream.usage import AnswerSummary

_JSON_BYTES: Final = 64 * 1024 * 1024


class AnswerMeter:
    """Takes the bytes of an answer and returns those to forward; `summary` holds the result.

    `drop_usage_event` removes the event of an OpenAI stream that holds only usage: a client that
    did not ask for it may fail on an event without choices.
    """

    def __init__(
        self,
        read: Callable[[Json, AnswerSummary], None],
        *,
        is_stream: bool,
        drop_usage_event: bool,
    ) -> None:
        self.summary = AnswerSummary()
        self._read = read
        self._parser = EventParser() if is_stream else None
        self._drop_usage_event = drop_usage_event and is_stream
        self._body = bytearray()

    def feed(self, data: bytes) -> bytes:
        """Read the next bytes of the answer."""
        if self._parser is None:
            if len(self._body) <= _JSON_BYTES:
                self._body += data
            return data
        kept = [event.raw for event in self._parser.feed(data) if self._read_event(event.data)]
        return b"".join(kept) if self._drop_usage_event else data

    def finish(self) -> bytes:
        """Read the rest at the end of the answer."""
        if self._parser is None:
            self._read(parse_json(bytes(self._body)), self.summary)
            self._body.clear()
            return b""
        rest = self._parser.finish()
        return rest.raw if self._read_event(rest.data) and self._drop_usage_event else b""

    def _read_event(self, data: bytes) -> bool:
        """Read an event; return False if it holds nothing but usage."""
        value = parse_json(data) if data.startswith(b"{") else None
        if value is None:
            return True
        self._read(value, self.summary)
        return bool(get_list(value, "choices")) or get_value(value, "usage") is None
