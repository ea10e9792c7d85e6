"""The JSON of models and agents, read leniently: what is not as expected is simply not there.

Unlike our own documents it is passed on as it came; this only picks a few values out of it.
"""

import json
from typing import Final, cast

from reb_action.documents import Json

_COUNT_LIMIT: Final = 10**12
_TEXT_LIMIT: Final = 200


def loads(data: bytes) -> Json:
    """Return the JSON of these bytes, whatever they are; None where they are no JSON."""
    try:
        return cast(Json, json.loads(data.decode("utf-8", "replace")))
    except (ValueError, RecursionError):
        return None


def once(data: bytes) -> Json:
    """Return JSON as `loads` does; None also where an object has a key twice.

    Which of the two counts is up to each reader, so that we would read another thing.
    """
    try:
        return cast(Json, json.loads(data.decode("utf-8", "replace"), object_pairs_hook=_once))
    except (ValueError, RecursionError):
        return None


def _once(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found


def dumps(value: object) -> bytes:
    """Return JSON in one line of ASCII."""
    return json.dumps(value, sort_keys=True).encode()


def at(value: Json, *keys: str) -> Json:
    """Return what stands below these keys, or None."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def text(value: Json, *keys: str) -> str:
    """Return the text below these keys, or an empty one."""
    found = at(value, *keys)
    return found if isinstance(found, str) else ""


def items(value: Json, *keys: str) -> list[Json]:
    """Return the list below these keys, or an empty one."""
    found = at(value, *keys)
    return found if isinstance(found, list) else []


def count(value: Json, *keys: str) -> int | None:
    """Return the number of tokens below these keys; None where there is no sensible one."""
    found = at(value, *keys)
    if isinstance(found, bool) or not isinstance(found, int):
        return None
    return found if 0 <= found < _COUNT_LIMIT else None


def short(said: str) -> str:
    """Return a printable line of bounded length from untrusted text."""
    line = " ".join(said[: 4 * _TEXT_LIMIT].split())
    clean = "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in line
    )
    return clean if len(clean) <= _TEXT_LIMIT else clean[: _TEXT_LIMIT - 1] + "…"
