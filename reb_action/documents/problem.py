"""Tells in one plain clause where a value disagrees with its schema."""

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, cast

from jsonschema import Draft202012Validator, FormatChecker, validators
from jsonschema.exceptions import ValidationError
from jsonschema.exceptions import best_match as _best_match  # pyright: ignore[reportUnknownVariableType]

from reb_action.documents.strict_json import Json, show


def find_problem(value: Json, schema: Mapping[str, Json]) -> str | None:
    """Return the most telling disagreement of a value with a schema."""
    validator = _Validator(schema, format_checker=FormatChecker(["regex"]))
    # jsonschema's stubs leave the error type of its iterator open.
    errors = cast(Iterator[ValidationError], validator.iter_errors(cast(str, value)))  # pyright: ignore[reportUnknownMemberType]
    best = cast(ValidationError | None, _best_match(errors))
    return None if best is None else _sentence(_within_alternative(best))


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


def _within_alternative(error: ValidationError) -> ValidationError:
    """Return what is wrong within the alternative that was meant: the one whose key is there."""
    for index, name in enumerate(_alternatives(error)):
        if name in cast(Mapping[str, object], error.instance):
            within = (one for one in error.context or () if one.schema_path[0] == index)
            return next(within, error)
    return error


def _alternatives(error: ValidationError) -> list[str]:
    """Return the first required key of each alternative, where an object has to be one of some."""
    if error.validator != "oneOf" or not isinstance(error.instance, dict):
        return []
    branches = cast(list[Mapping[str, list[str]]], error.validator_value)
    return [branch["required"][0] for branch in branches]


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
    where = ".".join(_step(part) for part in (*within, *error.absolute_path)) or "the document"
    rule = _RULES.get(cast(str, error.validator))
    return f"{where}: {rule(error) if rule else error.message[:200]}"


def _step(part: str | int) -> str:
    text = str(part)
    return text if re.fullmatch(r"[\w./{}-]{1,80}", text) else show(text)


def _extra_keys(error: ValidationError) -> str:
    known = list(cast(Mapping[str, object], error.schema).get("properties", ()))  # type: ignore[call-overload]
    extra = [key for key in cast(dict[str, object], error.instance) if key not in known]
    return f"the key {show(extra[0])} is not known{_hint(extra[0], cast(list[str], known))}"


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
    "oneOf": _no_alternative,
    "type": _wrong_type,
    "enum": _not_in_enum,
    "pattern": lambda error: f"{show(error.instance)} does not match {error.validator_value}",
    "format": lambda error: f"{show(error.instance)} is not a valid {error.validator_value}",
    "minimum": lambda error: f"{show(error.instance)} is less than {error.validator_value}",
    "maximum": lambda error: f"{show(error.instance)} is more than {error.validator_value}",
    "minLength": lambda error: f"{show(error.instance)} is too short",
    "maxLength": lambda error: f"{show(error.instance)} is too long",
    "minItems": lambda _: "the list is empty",
    "uniqueItems": lambda error: f"{show(error.instance)} has the same item twice",
}
