"""Lenient access to the JSON of models and agents: a value of an unexpected type counts as absent.

The gateway forwards this JSON and only picks single values out of it, so it has no schema.
"""

import json
from typing import Final, cast

from reb_action.documents import Json

_COUNT_LIMIT: Final = 10**12
_TEXT_LIMIT: Final = 200


def parse_json(data: bytes) -> Json:
    """Parse JSON; return None for bytes that are not JSON."""
    try:
        return cast(Json, json.loads(data.decode("utf-8", "replace")))
    except (ValueError, RecursionError):
        return None


def parse_strict_json(data: bytes) -> Json:
    """Parse JSON; return None also when an object repeats a key.

    Parsers disagree on which of two equal keys counts, so the vendor could read another value than
    the gateway checked.
    """
    try:
        text = data.decode("utf-8", "replace")
        return cast(Json, json.loads(text, object_pairs_hook=_reject_duplicate_keys))
    except (ValueError, RecursionError):
        return None


def _reject_duplicate_keys(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("duplicate key")
    return value


def encode_json(value: object) -> bytes:
    """Return JSON as one line of ASCII."""
    return json.dumps(value, sort_keys=True).encode()


def get_value(value: Json, *keys: str) -> Json:
    """Return the value below these keys, or None."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def get_text(value: Json, *keys: str) -> str:
    """Return the text below these keys, or an empty text."""
    text = get_value(value, *keys)
    return text if isinstance(text, str) else ""


def get_list(value: Json, *keys: str) -> list[Json]:
    """Return the list below these keys, or an empty list."""
    items = get_value(value, *keys)
    return items if isinstance(items, list) else []


def get_count(value: Json, *keys: str) -> int | None:
    """Return the token count below these keys; None if it is absent or out of range."""
    count = get_value(value, *keys)
    if isinstance(count, bool) or not isinstance(count, int):
        return None
    return count if 0 <= count < _COUNT_LIMIT else None


def get_number(value: Json, *keys: str) -> float | None:
    """Return the number below these keys, or None."""
    number = get_value(value, *keys)
    if isinstance(number, bool) or not isinstance(number, int | float):
        return None
    return float(number)


def shorten(text: str) -> str:
    """Return untrusted text as one printable line of at most 200 characters."""
    line = " ".join(text[: 4 * _TEXT_LIMIT].split())
    clean = "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in line
    )
    return clean if len(clean) <= _TEXT_LIMIT else clean[: _TEXT_LIMIT - 1] + "…"
