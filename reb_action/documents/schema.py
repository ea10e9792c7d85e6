"""Holds values against `schemas/` and tells in one plain clause where they disagree."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import jsonschema_rs

from reb_action.documents.pattern import is_pattern
from reb_action.documents.strict_json import Json
from reb_action.resources import data_folder


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """One disagreement: the steps to the place that it concerns, and a clause that names it."""

    at: tuple[str | int, ...]
    text: str


def find_problem(value: Json, schema: str) -> str | None:
    """Return the most telling disagreement of a value with `schemas/<schema>.schema.json`."""
    if _is_valid(value, schema):
        return None
    # Imported here: nearly every document is valid, and jsonschema takes long to import.
    from reb_action.documents import problem  # noqa: PLC0415

    return problem.find_problem(value, _document(schema))


def list_problems(value: Json, schema: str) -> tuple[Problem, ...]:
    """Return every disagreement of a value with `schemas/<schema>.schema.json`."""
    if _is_valid(value, schema):
        return ()
    from reb_action.documents import problem  # noqa: PLC0415

    listed = problem.list_problems(value, _document(schema))
    return tuple(Problem(at=at, text=text) for at, text in listed)


def find_field_problems(value: Mapping[str, Json], schema: str) -> dict[str, str]:
    """Return what is wrong with each field of an object, by field, in the order of the schema.

    For a schema whose properties hold no references; unknown fields are ignored.
    """
    if _is_valid(dict(value), schema):
        return {}
    from reb_action.documents import problem  # noqa: PLC0415

    return problem.find_field_problems(value, _document(schema))


def _is_valid(value: Json, schema: str) -> bool:
    """Return whether a value matches; jsonschema then explains a value that does not.

    A scoreboard reads tens of thousands of documents, nearly all of them valid, and jsonschema
    takes about 200 times as long for each.
    """
    try:
        return _fast_validator(schema).is_valid(value)
    except UnicodeEncodeError:
        # Half a surrogate pair is no text for Rust; jsonschema says whether the schema allows it.
        return False


@cache
def _fast_validator(schema: str) -> jsonschema_rs.Draft202012Validator:
    # Rust's regular expressions differ from Python's, which compile the manifests' patterns.
    formats = {"regex": is_pattern}
    return jsonschema_rs.Draft202012Validator(
        _document(schema), validate_formats=True, formats=formats
    )


@cache
def _document(schema: str) -> dict[str, Json]:
    path = data_folder("schemas") / f"{schema}.schema.json"
    return json.loads(path.read_text(encoding="utf-8"))
