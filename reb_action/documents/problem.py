"""Tells in plain clauses where a value disagrees with its schema."""

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, cast

from jsonschema import Draft202012Validator, FormatChecker, validators
from jsonschema.exceptions import ValidationError
from jsonschema.exceptions import best_match as _best_match  # pyright: ignore[reportUnknownVariableType]

from reb_action.documents.pattern import is_pattern
from reb_action.documents.strict_json import Json, show

PlacedClause = tuple[tuple[str | int, ...], str]
"""The steps to the place that a disagreement concerns, and a clause that names it."""


_FORMATS: Final = FormatChecker([])
_FORMATS.checks("regex")(is_pattern)


def find_problem(value: Json, schema: Mapping[str, Json]) -> str | None:
    """Return the most telling disagreement of a value with a schema."""
    best = cast(ValidationError | None, _best_match(_find_errors(value, schema)))
    return None if best is None else _sentence(next(_within_alternative(best)))


def list_problems(value: Json, schema: Mapping[str, Json]) -> tuple[PlacedClause, ...]:
    """Return every disagreement of a value with a schema, each once."""
    errors = (part for one in _find_errors(value, schema) for part in _within_alternative(one))
    return tuple(dict.fromkeys(problem for one in errors for problem in _problems_of(one)))


def _find_errors(value: Json, schema: Mapping[str, Json]) -> Iterator[ValidationError]:
    validator = _Validator(schema, format_checker=_FORMATS)
    # jsonschema's stubs leave the error type of its iterator open.
    return cast(Iterator[ValidationError], validator.iter_errors(cast(str, value)))  # pyright: ignore[reportUnknownMemberType]


def _problems_of(error: ValidationError) -> Iterator[PlacedClause]:
    """Yield the problems of an error, which may name several keys of one object."""
    at = tuple(error.absolute_path)
    where = _where(at)
    if error.validator == "additionalProperties":
        for key, clause in _list_extra_keys(error):
            yield (*at, key), f"{where}: {clause}"
    elif error.validator == "required":
        for key in _list_missing_keys(error):
            yield at, f"{where}: the key {key} is missing"
    else:
        # The key itself is at fault, not the value of its object.
        named = "propertyNames" in error.absolute_schema_path
        key = (cast(str, error.instance),) if named else ()
        yield (*at, *key), _sentence(error)


def find_field_problems(value: Mapping[str, Json], schema: Mapping[str, Json]) -> dict[str, str]:
    """Return what is wrong with each field of an object, by field, in the order of the schema."""
    fields = cast(Mapping[str, Mapping[str, Json]], schema["properties"])
    required = cast(Sequence[str], schema["required"])
    problems = {name: _field_problem(value, name, part) for name, part in fields.items()}
    absent = {name: f"the key {name} is missing" for name in required if name not in value}
    return {name: text for name in fields if (text := absent.get(name) or problems[name])}


def _field_problem(value: Mapping[str, Json], name: str, part: Mapping[str, Json]) -> str | None:
    if name not in value:
        return None
    errors = cast(Iterator[ValidationError], _Validator(part).iter_errors(cast(str, value[name])))  # pyright: ignore[reportUnknownMemberType]
    error = next(errors, None)
    return None if error is None else _sentence(error, name)


def _within_alternative(error: ValidationError) -> Iterator[ValidationError]:
    """Yield the faults within the intended alternative: the one whose key is present."""
    for index, name in enumerate(_alternatives(error)):
        if name in cast(Mapping[str, object], error.instance):
            within = [one for one in error.context or () if one.schema_path[0] == index]
            yield from within or [error]
            return
    yield from _within_type(error) or [error]


def _within_type(error: ValidationError) -> list[ValidationError]:
    """Return what is wrong within the only alternative of the value's type; empty if none is."""
    if error.validator != "oneOf":
        return []
    parts = list(error.context or ())
    other = {part.schema_path[0] for part in parts if part.validator == "type" and not part.path}
    fitting = [part for part in parts if part.schema_path[0] not in other]
    return fitting if len({part.schema_path[0] for part in fitting}) == 1 else []


def _alternatives(error: ValidationError) -> list[str]:
    """Return the first required key of each alternative, where an object has to be one of some."""
    if error.validator != "oneOf" or not isinstance(error.instance, dict):
        return []
    branches = cast(list[Mapping[str, list[str]]], error.validator_value)
    return [branch["required"][0] for branch in branches if "required" in branch]


def _matches(_: object, pattern: str, instance: object, __: object) -> Iterator[ValidationError]:
    # A schema's `$` is the end of the text; Python's also stands before a last line break.
    strict = rf"{pattern[:-1]}\Z" if pattern.endswith("$") else pattern
    if isinstance(instance, str) and not re.search(strict, instance):
        yield ValidationError("")


_Validator: Final = cast(
    type[Draft202012Validator],
    validators.extend(Draft202012Validator, {"pattern": _matches}),  # pyright: ignore[reportUnknownMemberType]
)


def _sentence(error: ValidationError, *within: str) -> str:
    rule = _RULES.get(cast(str, error.validator))
    clause = rule(error) if rule else error.message[:200]
    return f"{_where((*within, *error.absolute_path))}: {clause}"


def _where(path: Iterable[str | int]) -> str:
    return ".".join(map(_step, path)) or "the document"


def _step(part: str | int) -> str:
    text = str(part)
    return text if re.fullmatch(r"[\w./{}-]{1,80}", text) else show(text)


def _extra_key(error: ValidationError) -> str:
    return next(clause for _, clause in _list_extra_keys(error))


def _list_extra_keys(error: ValidationError) -> Iterator[tuple[str, str]]:
    """Yield each key that the schema does not know, with a clause about it."""
    known = list(cast(Mapping[str, object], error.schema).get("properties", ()))  # type: ignore[call-overload]
    for key in cast(dict[str, object], error.instance):
        if key not in known:
            yield key, f"the key {show(key)} is not known{_hint(key, cast(list[str], known))}"


def _no_alternative(error: ValidationError) -> str:
    known = _alternatives(error)
    if not known:
        return f"{show(error.instance)} matches none of the allowed forms"
    hints = (_hint(key, known) for key in cast(dict[str, object], error.instance))
    return f"none of the keys {', '.join(known)} is there{next(filter(None, hints), '')}"


def _hint(key: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(key, known, n=1)
    return f"; perhaps you meant {close[0]}" if close else ""


def _missing_key(error: ValidationError) -> str:
    return f"the key {next(_list_missing_keys(error))} is missing"


def _list_missing_keys(error: ValidationError) -> Iterator[str]:
    required = cast(Iterable[str], error.validator_value)
    instance = cast(dict[str, object], error.instance)
    return (key for key in required if key not in instance)


def _wrong_type(error: ValidationError) -> str:
    wanted = error.validator_value
    names = [wanted] if isinstance(wanted, str) else cast(list[str], wanted)
    return f"{show(error.instance)} is not of type {' or '.join(names)}"


def _not_in_enum(error: ValidationError) -> str:
    allowed = ", ".join(str(item) for item in cast(list[object], error.validator_value))
    return f"{show(error.instance)} is not one of {allowed}"


def _length(error: ValidationError, bound: str) -> str:
    """Return how long a text is, and the limit that it breaks."""
    actual, limit = len(cast(str, error.instance)), cast(int, error.validator_value)
    return f"{actual} of at {bound} {limit} character{'' if limit == 1 else 's'}"


_RULES: Final[Mapping[str, Callable[[ValidationError], str]]] = {
    "additionalProperties": _extra_key,
    "required": _missing_key,
    "oneOf": _no_alternative,
    "type": _wrong_type,
    "enum": _not_in_enum,
    "pattern": lambda error: f"{show(error.instance)} does not match {error.validator_value}",
    "format": lambda error: f"{show(error.instance)} is not a valid {error.validator_value}",
    "minimum": lambda error: f"{show(error.instance)} is less than {error.validator_value}",
    "maximum": lambda error: f"{show(error.instance)} is more than {error.validator_value}",
    "minLength": lambda error: f"{show(error.instance)} is too short ({_length(error, 'least')})",
    "maxLength": lambda error: f"{show(error.instance)} is too long ({_length(error, 'most')})",
    "minProperties": lambda _: "it has no key",
    "maxProperties": lambda error: f"it has more keys than {error.validator_value}",
    "minItems": lambda _: "the list is empty",
    "uniqueItems": lambda error: f"{show(error.instance)} has the same item twice",
}
