"""Turns our values into JSON and back, checked against `schemas/` both ways.

The only place that parses JSON. Reading is strict: UTF-8 without a byte order mark, no duplicate
keys, no NaN, bounded size, depth and numbers. Writing is canonical (sorted keys, two spaces, one
final newline), so equal values are equal bytes.
"""

import difflib
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Final, TypeVar, cast

import cattrs
from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import ValidationError
from jsonschema.exceptions import best_match as _best_match  # pyright: ignore[reportUnknownVariableType]

from reb_action.errors import DocumentError
from reb_action.layout import data_folder

T = TypeVar("T")
Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]

SCHEMA: Final = 1
"""Version of every document of ours; a reader refuses another one."""

LIMIT_BYTES: Final = 64 * 1024 * 1024
_DEPTH: Final = 64
_SHOWN: Final = 80

_converter: Final = cattrs.Converter(forbid_extra_keys=True, prefer_attrib_converters=False)


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
        raise NotJsonError(_syntax_clause(error)) from None
    _check_bounds(value)
    return value


def dump_json(value: object) -> bytes:
    """Return the canonical bytes of a JSON value."""
    text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "backslashreplace") + b"\n"


def problem(value: Json, schema: str) -> str | None:
    """Return the most telling disagreement of a value with `schemas/<schema>.schema.json`."""
    error = _first_error(value, schema)
    return None if error is None else _sentence(error)


def to_json(value: object) -> Json:
    """Return one of our values as plain JSON."""
    return cast(Json, _converter.unstructure(value))


def from_json(data: Json, kind: type[T]) -> T:
    """Return JSON that has passed its schema as one of our values."""
    return _converter.structure(data, kind)


def answer_of(data: bytes | None, kind: type[T]) -> T | None:
    """Return what a probe answered as one of our values, or None where it is not of that shape."""
    try:
        return None if data is None else from_json(parse_json(data), kind)
    except (NotJsonError, cattrs.BaseValidationError, cattrs.StructureHandlerNotFoundError):
        return None


def write(path: Path, value: object, *, kind: str) -> bytes:
    """Write a value as the document `kind`, whole or not at all; returns its bytes."""
    data = dump_json({"document": kind, "schema": SCHEMA, "value": to_json(value)})
    decode(data, type(value), kind=kind, name=path.name)
    write_bytes(path, data)
    return data


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file so that a reader, or a kill at any moment, sees the old or the new one.

    Not for a power failure: a machine that lost power has lost the trial's sandbox as well.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def read(path: Path, kind_of_value: type[T], *, kind: str) -> T:
    """Read the document `kind`; raises DocumentError that names the file and what is wrong."""
    return decode(read_bytes(path), kind_of_value, kind=kind, name=path.name)


# Steps read the same documents again and again; a value is frozen, so one is as good as another.
@lru_cache(maxsize=256)
def decode(data: bytes, kind_of_value: type[T], *, kind: str, name: str) -> T:
    """Return the value of a document's bytes; `name` is how messages call it."""
    try:
        value = parse_json(data)
    except NotJsonError as error:
        raise DocumentError(f"{name} is not readable as JSON: {error}") from None
    fault = problem(value, kind)
    if fault is not None:
        raise DocumentError(f"{name} is not a {kind} document of schema {SCHEMA}: {fault}")
    return from_json(cast(dict[str, Json], value)["value"], kind_of_value)


def read_bytes(path: Path, *, limit: int = LIMIT_BYTES) -> bytes:
    """Read a regular file of ours, capped; raises DocumentError."""
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise DocumentError(f"{path} is not a regular file; remove it and run the step again")
    try:
        with path.open("rb") as stream:
            data = stream.read(limit + 1)
    except FileNotFoundError:
        raise DocumentError(f"{path} does not exist; run the step that makes it first") from None
    except OSError as error:
        raise DocumentError(f"{path} cannot be read: {error.strerror}") from None
    if len(data) > limit:
        raise DocumentError(f"{path} is larger than {limit} bytes; it is not a document of reb")
    return data


def _first_error(value: Json, schema: str) -> ValidationError | None:
    # jsonschema's stubs leave the error type of its iterator open.
    errors = cast(Iterator[ValidationError], _validator(schema).iter_errors(cast(str, value)))  # pyright: ignore[reportUnknownMemberType]
    return cast(ValidationError | None, _best_match(errors))


@cache
def _validator(schema: str) -> Draft202012Validator:
    path = data_folder("schemas") / f"{schema}.schema.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    return Draft202012Validator(document, format_checker=FormatChecker(["regex"]))


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    value = dict(pairs)
    if len(value) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise NotJsonError(f"the key {show(twice)} occurs twice in one object")
    return value


def _no_constant(name: str) -> Json:
    raise NotJsonError(f"{name} is not a JSON number")


def _syntax_clause(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg.lower()} at line {error.lineno}, column {error.colno}"
    return "it holds a number with too many digits"


def _check_bounds(value: Json) -> None:
    for item, depth in _walk(value):
        if depth > _DEPTH:
            raise NotJsonError(f"it is nested more than {_DEPTH} levels deep")
        if isinstance(item, float) and item in (float("inf"), float("-inf")):
            raise NotJsonError("it holds a number too large to represent")
        if isinstance(item, str) and any("\ud800" <= letter <= "\udfff" for letter in item):
            raise NotJsonError("it holds half of a surrogate pair")


def _walk(value: Json) -> Iterator[tuple[Json, int]]:
    waiting: list[tuple[Json, int]] = [(value, 1)]
    while waiting:
        item, depth = waiting.pop()
        yield item, depth
        if isinstance(item, dict):
            waiting.extend((part, depth + 1) for pair in item.items() for part in pair)
        elif isinstance(item, list):
            waiting.extend((part, depth + 1) for part in item)


def show(value: object) -> str:
    """Return a short, printable, one-line form of an untrusted value for a message."""
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    clean = "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text
    )
    short = clean if len(clean) <= _SHOWN else clean[: _SHOWN - 1] + "…"
    return f'"{short}"' if isinstance(value, str) else short


def _sentence(error: ValidationError) -> str:
    where = ".".join(str(part) for part in error.absolute_path) or "the document"
    rule = _RULES.get(cast(str, error.validator))
    return f"{where}: {rule(error) if rule else error.message[:200]}"


def _extra_keys(error: ValidationError) -> str:
    known = list(cast(Mapping[str, object], error.schema).get("properties", ()))  # type: ignore[call-overload]
    extra = [key for key in cast(dict[str, object], error.instance) if key not in known]
    close = difflib.get_close_matches(extra[0], cast(list[str], known), n=1)
    hint = f"; perhaps you meant {close[0]}" if close else ""
    return f"the key {show(extra[0])} is not known{hint}"


def _missing_key(error: ValidationError) -> str:
    required = cast(Iterable[str], error.validator_value)
    instance = cast(dict[str, object], error.instance)
    return f"the key {next(key for key in required if key not in instance)} is missing"


def _wrong_type(error: ValidationError) -> str:
    wanted = error.validator_value
    names = [wanted] if isinstance(wanted, str) else cast(list[str], wanted)
    return f"{show(error.instance)} is not of type {' or '.join(names)}"


def _not_in_enum(error: ValidationError) -> str:
    allowed = ", ".join(str(item) for item in cast(list[object], error.validator_value))
    return f"{show(error.instance)} is not one of {allowed}"


_RULES: Final[Mapping[str, Callable[[ValidationError], str]]] = {
    "additionalProperties": _extra_keys,
    "required": _missing_key,
    "type": _wrong_type,
    "enum": _not_in_enum,
    "pattern": lambda error: f"{show(error.instance)} does not match {error.validator_value}",
    "format": lambda error: f"{show(error.instance)} is not a valid {error.validator_value}",
    "minimum": lambda error: f"{show(error.instance)} is less than {error.validator_value}",
    "maximum": lambda error: f"{show(error.instance)} is more than {error.validator_value}",
    "minLength": lambda error: f"{show(error.instance)} is too short",
    "maxLength": lambda error: f"{show(error.instance)} is too long",
    "minItems": lambda _: "the list is empty",
}
