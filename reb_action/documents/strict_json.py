"""Strict JSON of any origin to plain values, and plain values to canonical bytes."""

import json
import re
import sys
from collections.abc import Iterable, Iterator
from typing import Final

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]

_DEPTH: Final = 64
_SHOWN: Final = 80
SURROGATE: Final = re.compile("[\ud800-\udfff]")
"""Half of a surrogate pair, which no text that can be encoded holds."""
# The only ways to write a number beyond a float's range, or half of a pair, in UTF-8 text.
_SUSPECT: Final = re.compile(r"[0-9]{200}|[eE]\+?0*[1-9][0-9]{2}|\\u[dD][89a-fA-F]")


class NotJsonError(ValueError):
    """The bytes are not the JSON that we accept; the message is one plain clause."""


def parse_json(data: bytes) -> Json:
    """Parse strict JSON of any origin; raises NotJsonError and nothing else."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotJsonError(f"it is not UTF-8 (byte {error.start})") from None
    if text.startswith("\ufeff"):
        raise NotJsonError("it starts with a byte order mark; save it as plain UTF-8")
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except NotJsonError:
        raise
    except RecursionError:
        raise NotJsonError("it is nested too deeply") from None
    except ValueError as error:
        raise NotJsonError(syntax_clause(error)) from None
    _check_bounds(value, text)
    return value


def dump_json(value: object) -> bytes:
    """Return the canonical bytes of a JSON value."""
    text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "backslashreplace") + b"\n"


def show(value: object) -> str:
    """Return a short, printable, one-line form of an untrusted value for a message."""
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    clean = "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text
    )
    short = clean if len(clean) <= _SHOWN else clean[: _SHOWN - 1] + "…"
    return f'"{short}"' if isinstance(value, str) else short


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    value = dict(pairs)
    if len(value) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise NotJsonError(f"the key {show(twice)} occurs twice in one object")
    return value


def _no_constant(name: str) -> Json:
    raise NotJsonError(f"{name} is not a JSON number")


def syntax_clause(error: ValueError) -> str:
    """Return in one clause what is not JSON, and where."""
    if isinstance(error, json.JSONDecodeError):
        return (
            f"{error.msg.lower().removesuffix(' at')} at line {error.lineno}, column {error.colno}"
        )
    return "it has a number with too many digits"


def _check_bounds(value: Json, text: str) -> None:
    if _is_deep(value):
        raise NotJsonError(f"it is nested more than {_DEPTH} levels deep")
    if _SUSPECT.search(text) is None:
        return
    for item in walk(value):
        if isinstance(item, int | float) and not abs(item) <= sys.float_info.max:
            raise NotJsonError("it has a number too large to represent")
        if isinstance(item, str) and SURROGATE.search(item):
            raise NotJsonError("it has an unpaired surrogate")


def _is_deep(value: Json) -> bool:
    level = [value]
    for _ in range(_DEPTH):
        level = [part for item in level for part in _parts(item)]
        if not level:
            return False
    return True


def _parts(item: Json) -> Iterable[Json]:
    if isinstance(item, dict):
        return item.values()
    return item if isinstance(item, list) else ()


def walk(value: Json) -> Iterator[Json]:
    """Yield a value, each part of it and each key, however deep, without recursion."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        yield item
        waiting.extend(_parts(item))
        if isinstance(item, dict):
            waiting.extend(item)
