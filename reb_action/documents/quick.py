"""Says fast whether a value passes a schema, for the keywords that our generated schemas use.

jsonschema is the authority and alone can tell what is wrong; but a report reads tens of thousands
of documents that are right, and walking a schema anew for each takes it minutes. A schema is
turned into functions once. `tests/test_quick.py` holds both to the same answers.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, cast

from reb_action.documents.parsing import Json

Check = Callable[[Json], bool]
Schema = Mapping[str, Json]


def compiled(document: Schema) -> Check | None:
    """Return a function that says whether a value passes; None for a keyword unknown here."""
    try:
        return _Compiler(document).check(document)
    except _UnknownKeywordError:
        return None


class _UnknownKeywordError(Exception):
    """A schema says something that only jsonschema understands."""


class _Compiler:
    """Turns a schema and its definitions into functions, each definition once."""

    def __init__(self, document: Schema) -> None:
        self._definitions = cast(Mapping[str, Schema], document.get("$defs", {}))
        self._made: dict[str, Check] = {}

    def check(self, schema: Schema) -> Check:
        """Return the check of one schema: all of its keywords."""
        words = set(schema) - _SILENT
        if words - _KNOWN or ("items" in words) < ("prefixItems" in words):
            raise _UnknownKeywordError
        checks = [
            *([self._reference(cast(str, schema["$ref"]))] if "$ref" in words else ()),
            *([_constant(schema["const"])] if "const" in words else ()),
            *([_words(cast(Sequence[Json], schema["enum"]))] if "enum" in words else ()),
            *([self._any(cast(Sequence[Schema], schema["anyOf"]))] if "anyOf" in words else ()),
            *([_of_type(schema["type"])] if "type" in words else ()),
            *([self._object(schema)] if words & _OF_OBJECTS else ()),
            *([self._array(schema)] if words & _OF_ARRAYS else ()),
        ]
        return checks[0] if len(checks) == 1 else _all(checks)

    def _reference(self, name: str) -> Check:
        key = name.removeprefix("#/$defs/")
        if key not in self._definitions:
            raise _UnknownKeywordError
        if key not in self._made:
            # A definition may name itself; by the time that it is asked, it is made.
            self._made[key] = self._later(key)
            self._made[key] = self.check(self._definitions[key])
        return self._made[key]

    def _later(self, key: str) -> Check:
        def passes(value: Json) -> bool:
            return self._made[key](value)

        return passes

    def _any(self, schemas: Sequence[Schema]) -> Check:
        checks = [self.check(one) for one in schemas]
        return lambda value: any(check(value) for check in checks)

    def _object(self, schema: Schema) -> Check:
        properties = cast(Mapping[str, Schema], schema.get("properties", {}))
        checks = {name: self.check(one) for name, one in properties.items()}
        required = frozenset(cast(Sequence[str], schema.get("required", ())))
        name_check = self._inner(schema.get("propertyNames", True))
        other = self._inner(schema.get("additionalProperties", True))

        def passes(value: Json) -> bool:
            if not isinstance(value, dict):
                return True
            return required <= value.keys() and all(
                name_check(name) and checks.get(name, other)(item) for name, item in value.items()
            )

        return passes

    def _array(self, schema: Schema) -> Check:
        first = [self.check(one) for one in cast(Sequence[Schema], schema.get("prefixItems", ()))]
        rest = self._inner(schema.get("items", True))
        least = cast(int, schema.get("minItems", 0))

        def passes(value: Json) -> bool:
            if not isinstance(value, list):
                return True
            if len(value) < least:
                return False
            begun = all(check(item) for check, item in zip(first, value, strict=False))
            return begun and all(map(rest, value[len(first) :]))

        return passes

    def _inner(self, schema: Json) -> Check:
        if isinstance(schema, bool):
            return _anything if schema else _nothing
        return self.check(cast(Schema, schema))


def _all(checks: Sequence[Check]) -> Check:
    return lambda value: all(check(value) for check in checks)


def _anything(_: Json) -> bool:
    return True


def _nothing(_: Json) -> bool:
    return False


def _words(allowed: Sequence[Json]) -> Check:
    if not all(isinstance(one, str) for one in allowed):
        raise _UnknownKeywordError
    words = frozenset(cast(Sequence[str], allowed))
    return lambda value: isinstance(value, str) and value in words


def _constant(wanted: Json) -> Check:
    if isinstance(wanted, bool) or not isinstance(wanted, str | int):
        raise _UnknownKeywordError
    return lambda value: not isinstance(value, bool) and value == wanted


def _of_type(name: Json) -> Check:
    if not isinstance(name, str) or name not in _TYPES:
        raise _UnknownKeywordError
    return _TYPES[name]


def _is_integer(value: Json) -> bool:
    # JSON knows one kind of number: 1.0 is an integer.
    if isinstance(value, float):
        return value.is_integer()
    return isinstance(value, int) and not isinstance(value, bool)


_TYPES: Final[Mapping[str, Check]] = {
    "string": lambda value: isinstance(value, str),
    "integer": _is_integer,
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
}
_SILENT: Final = {"$schema", "$id", "$defs", "title", "description"}
_OF_OBJECTS: Final = {"properties", "required", "additionalProperties", "propertyNames"}
_OF_ARRAYS: Final = {"items", "prefixItems", "minItems"}
_KNOWN: Final = {"$ref", "const", "enum", "anyOf", "type", *_OF_OBJECTS, *_OF_ARRAYS}
