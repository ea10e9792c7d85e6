"""Incremental parser for server-sent events (https://html.spec.whatwg.org, 9.2)."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

_EVENT_BYTES: Final = 16 * 1024 * 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """An event: its bytes as received, and its data."""

    raw: bytes = field(repr=False)
    data: bytes = field(repr=False)


class EventParser:
    """Splits a byte stream into events; an event above 16 MiB keeps its bytes, not its data."""

    def __init__(self) -> None:
        self._line = bytearray()
        self._raw = bytearray()
        self._data: list[bytes] = []

    def feed(self, data: bytes) -> Iterator[Event]:
        """Yield each event that these bytes complete."""
        *lines, rest = data.split(b"\n")
        for line in lines:
            self._line += line + b"\n"
            yield from self._add_line(bytes(self._line))
            self._line.clear()
        self._line += rest

    def finish(self) -> Event:
        """Return the bytes after the last complete event as an event."""
        *_, event = (None, *self._add_line(bytes(self._line)), *self._end_event())
        return event or Event(raw=b"", data=b"")

    def _add_line(self, line: bytes) -> Iterator[Event]:
        self._raw += line
        name, _, value = line.rstrip(b"\r\n").partition(b":")
        if name == b"data" and len(self._raw) <= _EVENT_BYTES:
            self._data.append(value.removeprefix(b" "))
        if line.endswith(b"\n") and not line.strip():
            yield from self._end_event()

    def _end_event(self) -> Iterator[Event]:
        yield Event(raw=bytes(self._raw), data=b"\n".join(self._data))
        self._raw.clear()
        self._data.clear()
