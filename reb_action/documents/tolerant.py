"""Parses JSON that an agent wrote: names each fault of the text and keeps the readable parts.

`strict_json.py` reads documents of reb. Here one mistake must not lose the rest. The caller limits
the size; depth and numbers are limited here, so that hostile text costs little.
"""

import codecs
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from reb_action.documents.strict_json import (
    SURROGATE,
    Json,
    NotJsonError,
    show,
    syntax_clause,
    walk,
)

# Python's parser recurses once for each level and gives up near 1,000 frames of any kind.
_DEEPEST: Final = 500
_MOST_DIGITS: Final = 300
# The closing quote may be absent: then the rest is one text, and no quote is tried again.
_BRACKET_OR_TEXT: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[{]|[\]}]', re.DOTALL)
_CONTROL_CHARACTER: Final = "Invalid control character"


@dataclass(frozen=True, kw_only=True, slots=True)
class TolerantJson:
    """A parsed text: its value, the faults of the text, and the top-level keys that it repeats.

    Of a repeated key the last value is kept.
    """

    value: Json
    faults: tuple[str, ...]
    repeated: tuple[str, ...]


def parse_tolerantly(data: bytes) -> TolerantJson:
    """Parse JSON of any origin; raises NotJsonError if no JSON value can be read."""
    text, faults = _decode(data)
    if _depth(text) > _DEEPEST:
        raise NotJsonError(f"it is nested more than {_DEEPEST} levels deep")
    repeated: list[tuple[str, ...]] = []
    try:
        value, control = _load(text, repeated)
    except json.JSONDecodeError as error:
        raise NotJsonError(
            faults[-1] if "\0" in text and faults else syntax_clause(error)
        ) from None
    # The outermost object is the last one that is complete.
    own = repeated.pop() if isinstance(value, dict) else ()
    nested = {
        f"the key {show(key)} occurs twice in one object": None for keys in repeated for key in keys
    }
    return TolerantJson(value=value, faults=(*faults, *control, *nested), repeated=own)


def find_oddity(value: Json) -> str | None:
    """Return what JSON does not allow in a value that was parsed tolerantly, if anything."""
    return next(_oddities(value), None)


def replace_surrogates(text: str) -> str:
    """Return text that can be encoded: half of a surrogate pair becomes U+FFFD."""
    return SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)


def _decode(data: bytes) -> tuple[str, tuple[str, ...]]:
    plain = data.removeprefix(codecs.BOM_UTF8)
    mark = ("it starts with a byte order mark",) if len(plain) < len(data) else ()
    try:
        return plain.decode("utf-8"), mark
    except UnicodeDecodeError as error:
        clause = f"it is not UTF-8 (byte {error.start + len(data) - len(plain)})"
        return plain.decode("utf-8", "replace"), (*mark, clause)


def _depth(text: str) -> int:
    """Return the nesting of brackets; counted first, because Python's own limit varies."""
    depth = deepest = 0
    for match in _BRACKET_OR_TEXT.finditer(text):
        if match[0] in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif match[0] in "]}":
            depth -= 1
    return deepest


def _load(text: str, repeated: list[tuple[str, ...]]) -> tuple[Json, tuple[str, ...]]:
    """Return the value; where only a raw line break or tab is wrong with a string, name it."""
    try:
        return _parse(text, repeated, strict=True), ()
    except json.JSONDecodeError as error:
        if not error.msg.startswith(_CONTROL_CHARACTER):
            raise
        repeated.clear()
        return _parse(text, repeated, strict=False), (syntax_clause(error),)


def _parse(text: str, repeated: list[tuple[str, ...]], *, strict: bool) -> Json:
    def unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
        value = dict(pairs)
        repeated.append(_repeated(pairs) if len(value) < len(pairs) else ())
        return value

    return json.loads(
        text, strict=strict, object_pairs_hook=unique, parse_constant=float, parse_int=_whole
    )


def _repeated(pairs: list[tuple[str, Json]]) -> tuple[str, ...]:
    met: set[str] = set()
    return tuple(dict.fromkeys(key for key, _ in pairs if key in met or met.add(key)))


def _whole(digits: str) -> int | float:
    return int(digits) if len(digits) <= _MOST_DIGITS else float(digits)


def _oddities(value: Json) -> Iterator[str]:
    for item in walk(value):
        if isinstance(item, float) and math.isnan(item):
            yield "it has NaN, which is not a JSON number"
        elif isinstance(item, float) and math.isinf(item):
            yield "it has a number too large to represent"
        elif isinstance(item, str) and SURROGATE.search(item):
            yield "it has an unpaired surrogate"
