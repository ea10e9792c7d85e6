"""Writes the schemas of the documents that reb itself makes, from the types that they hold.

    python schemas/generate.py           write them
    python schemas/generate.py --check   fail, naming the file, if one is not up to date

The schemas of what people and agents write (manifest, report, agent) are written by hand.
"""

import dataclasses
import json
import sys
import types
import typing
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from reb_action.documents import SCHEMA
from reb_action.model.agent import AgentList
from reb_action.model.comparison import Comparisons
from reb_action.model.plan import EarlyStop, Plan
from reb_action.model.record import History, Record
from reb_action.model.scoreboard import Publication, Scoreboard
from reb_action.session.evidence import DOCUMENTS as OF_A_TRIAL

OF_A_RUN = {
    "plan": Plan,
    "early_stop": EarlyStop,
    "scoreboard": Scoreboard,
    "published": Publication,
}
OF_A_BOARD = {"record": Record, "history": History, "comparisons": Comparisons}
DOCUMENTS = {**OF_A_TRIAL, **OF_A_RUN, **OF_A_BOARD, "agents": AgentList}
FOLDER = Path(__file__).parent
PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


def schema_of(kind: object, defs: dict[str, object]) -> dict[str, object]:
    """Return the schema of a type; named types go to `defs`."""
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if kind in PLAIN:
        return {"type": PLAIN[kind]}
    if origin in (types.UnionType, typing.Union):
        return {"anyOf": [schema_of(arg, defs) for arg in args]}
    if origin is tuple and args[-1] is Ellipsis:
        return {"type": "array", "items": schema_of(args[0], defs)}
    if origin is tuple:
        items = [schema_of(arg, defs) for arg in args]
        return {"type": "array", "prefixItems": items, "items": False, "minItems": len(items)}
    if origin is Mapping:
        names = schema_of(args[0], defs)
        return {
            "type": "object",
            "propertyNames": names,
            "additionalProperties": schema_of(args[1], defs),
        }
    return named(kind, defs)


def named(kind: type, defs: dict[str, object]) -> dict[str, object]:
    """Return a reference to the schema of a data class or an enumeration of ours."""
    if kind.__name__ not in defs:
        defs[kind.__name__] = {}
        defs[kind.__name__] = enumeration(kind) if issubclass(kind, StrEnum) else record(kind, defs)
    return {"$ref": f"#/$defs/{kind.__name__}"}


def enumeration(kind: type[StrEnum]) -> dict[str, object]:
    """Return the schema of a closed set of words."""
    return {"description": summary(kind), "enum": [member.value for member in kind]}


def record(kind: type, defs: dict[str, object]) -> dict[str, object]:
    """Return the schema of a data class: closed, and every field without a default is there.

    An older reb did not write a field that has been added since; its folders stay readable.
    """
    hints = typing.get_type_hints(kind)
    fields = [field.name for field in dataclasses.fields(kind)]
    needed = [field.name for field in dataclasses.fields(kind) if _is_needed(field)]
    return {
        "description": summary(kind),
        "type": "object",
        "additionalProperties": False,
        "required": needed,
        "properties": {name: schema_of(hints[name], defs) for name in fields},
    }


def _is_needed(field: dataclasses.Field[object]) -> bool:
    missing = dataclasses.MISSING
    return field.default is missing and field.default_factory is missing


def summary(kind: type) -> str:
    """Return the first sentence of a type's docstring."""
    return (kind.__doc__ or "").strip().partition("\n")[0]


def document(name: str, kind: type) -> str:
    """Return the text of one schema file."""
    defs: dict[str, object] = {}
    value = schema_of(kind, defs)
    whole = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"{name}.schema.json",
        "title": kind.__name__,
        "description": f"Generated from {kind.__module__}.{kind.__name__} by schemas/generate.py.",
        "type": "object",
        "additionalProperties": False,
        "required": ["document", "schema", "value"],
        "properties": {"document": {"const": name}, "schema": {"const": SCHEMA}, "value": value},
        "$defs": dict(sorted(defs.items())),
    }
    return json.dumps(whole, indent=2) + "\n"


def main() -> None:
    """Write or check every generated schema."""
    for name, kind in DOCUMENTS.items():
        path = FOLDER / f"{name}.schema.json"
        text = document(name, kind)
        if "--check" not in sys.argv:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            sys.exit(f"{path.name} is not up to date; run python schemas/generate.py")


if __name__ == "__main__":
    main()
