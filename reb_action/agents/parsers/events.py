"""Takes single values out of events that anybody may have written; nothing here raises."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from reb_action.documents import Json, NotJsonError, parse_json, read_bytes
from reb_action.errors import DocumentError

Event = Mapping[str, Json]

_FILE_BYTES: Final = 64 * 1024 * 1024
_LARGEST: Final = 10**15
_NOTHING: Final[Event] = {}


def lines(path: Path) -> Iterator[Event]:
    """Yield each line of a file that is a JSON object; other lines are skipped."""
    for line in _content(path).splitlines():
        event = _parsed(line)
        if event:
            yield event


def document(path: Path) -> Event:
    """Return the JSON object in a file; an empty one if there is none."""
    return _parsed(_content(path))


def last(events: Sequence[Event], *kinds: str) -> Event:
    """Return the last event of these types; an empty one if there is none."""
    found = (event for event in reversed(events) if event.get("type") in kinds)
    return next(found, _NOTHING)


def child(event: Event, *names: str) -> Event:
    """Return the object at a path of keys; an empty one if there is none."""
    for name in names:
        found = event.get(name)
        event = found if isinstance(found, dict) else _NOTHING
    return event


def children(event: Event, name: str) -> Iterator[Event]:
    """Yield the objects of a list."""
    found = event.get(name)
    for item in found if isinstance(found, list) else ():
        if isinstance(item, dict):
            yield item


def text(event: Event, name: str) -> str | None:
    """Return a text; None if there is none."""
    found = event.get(name)
    return found if isinstance(found, str) else None


def count(event: Event, name: str) -> int | None:
    """Return a count; None if there is none, or if the value is not a possible count."""
    found = event.get(name)
    if not isinstance(found, int) or isinstance(found, bool):
        return None
    return found if 0 <= found < _LARGEST else None


def amount(event: Event, name: str) -> float | None:
    """Return an amount of money."""
    found = event.get(name)
    if not isinstance(found, int | float) or isinstance(found, bool):
        return None
    return float(found) if 0 <= found < _LARGEST else None


def plus(*counts: int | None) -> int | None:
    """Return the sum of the known values; None if none is known."""
    known = [one for one in counts if one is not None]
    return sum(known) if known else None


def flat(value: Json) -> str:
    """Return the text of a message: a text, or a list of blocks with texts."""
    if isinstance(value, str):
        return value
    blocks = value if isinstance(value, list) else ()
    texts = (text(block, "text") for block in blocks if isinstance(block, dict))
    return "\n".join(one for one in texts if one)


def arguments(written: str) -> Event:
    """Return the arguments of a call as a model writes them: JSON or, failing that, a text."""
    return _parsed(written.encode("utf-8", "replace")) or {"arguments": written}


def moment(milliseconds: Json) -> str | None:
    """Return a time since the epoch as ISO 8601."""
    if not isinstance(milliseconds, int | float) or not 0 < milliseconds < _LARGEST:
        return None
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat()
    except (OverflowError, ValueError, OSError):
        return None


def iso(value: Json) -> str | None:
    """Return a text that is a time in ISO 8601."""
    if not isinstance(value, str):
        return None
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return None
    return value


def _content(path: Path) -> bytes:
    try:
        return read_bytes(path, limit=_FILE_BYTES)
    except (DocumentError, OSError):
        return b""


def _parsed(data: bytes) -> Event:
    if not data.lstrip().startswith(b"{"):
        return _NOTHING
    try:
        value = parse_json(data.decode("utf-8", "replace").encode())
    except NotJsonError:
        return _NOTHING
    return value if isinstance(value, dict) else _NOTHING
