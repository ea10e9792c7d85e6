"""Reads the answers of probes: code of an agent may have written them, so no type is converted."""

from itertools import repeat
from typing import Any, Final, TypeVar, cast, get_args, get_origin

import cattrs

from reb_action.documents.strict_json import NotJsonError, parse_json

T = TypeVar("T")

_LARGEST: Final = 2**63 - 1
"""Largest number: no size, count or time of a probe needs more."""


def answer_of(data: bytes | None, kind: type[T]) -> T | None:
    """Return the answer of a probe as a dataclass, or None if it has another shape.

    Text is never read as a number, nor a number as text; a list must be a JSON array.
    """
    try:
        value = None if data is None else parse_json(data)
        return _converter.structure(value, kind) if isinstance(value, dict) else None
    except (NotJsonError, cattrs.BaseValidationError, cattrs.StructureHandlerNotFoundError):
        return None


def _read_text(value: object, kind: type[str]) -> str:
    # An enum of texts has this hook too.
    return kind(_expect(value, str))


def _read_flag(value: object, _: object) -> bool:
    return _expect(value, bool)


def _read_number(value: object, _: object) -> int:
    number = _expect(value, int)
    if abs(number) > _LARGEST:
        raise ValueError("more than 64 bits")
    return number


def _read_real(value: object, _: object) -> float:
    return value if isinstance(value, float) else float(_read_number(value, int))


def _read_tuple(value: object, kind: object) -> tuple[Any, ...]:
    parts, items = get_args(kind), _expect(value, list[Any])
    endless = parts[-1] is Ellipsis
    if not endless and len(items) != len(parts):
        raise ValueError(f"{len(items)} items")
    pairs = zip(items, repeat(parts[0]) if endless else parts, strict=not endless)
    return tuple(_converter.structure(item, part) for item, part in pairs)


def _expect(value: object, kind: type[T]) -> T:
    # Not isinstance: a flag is an int to Python.
    if type(value) is not (get_origin(kind) or kind):
        raise TypeError(f"{type(value).__name__} is not {kind.__name__}")
    return cast(T, value)


def _create_converter() -> cattrs.Converter:
    converter = cattrs.Converter(forbid_extra_keys=True, prefer_attrib_converters=False)
    converter.register_structure_hook(str, _read_text)
    converter.register_structure_hook(bool, _read_flag)
    converter.register_structure_hook(int, _read_number)
    converter.register_structure_hook(float, _read_real)
    converter.register_structure_hook_func(lambda kind: get_origin(kind) is tuple, _read_tuple)
    return converter


_converter: Final = _create_converter()
