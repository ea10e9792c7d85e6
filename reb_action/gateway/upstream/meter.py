"""Reads an answer while it passes through."""

from collections.abc import Callable
from typing import Final

from reb_action.documents import Json
from reb_action.gateway.json_text import at, items, loads
from reb_action.gateway.upstream.sse import Events
from reb_action.gateway.upstream.usage import Reading

_JSON_BYTES: Final = 64 * 1024 * 1024


class Meter:
    """Takes bytes in and gives those to pass on; `reading` is what they have said so far.

    `hide` keeps back the event of an OpenAI stream that holds nothing but usage: a client which
    did not ask for it may not expect an event without choices.
    """

    def __init__(self, read: Callable[[Json, Reading], None], *, events: bool, hide: bool) -> None:
        self.reading = Reading()
        self._read = read
        self._events = Events() if events else None
        self._hide = hide and events
        self._body = bytearray()

    def feed(self, data: bytes) -> bytes:
        """Read more of the answer."""
        if self._events is None:
            if len(self._body) <= _JSON_BYTES:
                self._body += data
            return data
        shown = [event.raw for event in self._events.feed(data) if self._shows(event.data)]
        return b"".join(shown) if self._hide else data

    def finish(self) -> bytes:
        """Read what is left when nothing more comes."""
        if self._events is None:
            self._read(loads(bytes(self._body)), self.reading)
            self._body.clear()
            return b""
        rest = self._events.rest()
        return rest.raw if self._shows(rest.data) and self._hide else b""

    def _shows(self, data: bytes) -> bool:
        value = loads(data) if data.startswith(b"{") else None
        if value is None:
            return True
        self._read(value, self.reading)
        return bool(items(value, "choices")) or at(value, "usage") is None
