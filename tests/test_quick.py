"""The quick check of a document says what jsonschema says, of right documents and of wrong ones."""

import copy
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from scoreboards import found

from reb_action import documents
from reb_action.documents.quick import compiled
from reb_action.model.verdict import Verdict

FOLDER = Path(__file__).parent.parent / "schemas"
SCHEMAS = {
    path.name.removesuffix(".schema.json"): json.loads(path.read_text())
    for path in sorted(FOLDER.glob("*.schema.json"))
}
HAND_WRITTEN = {"manifest", "report", "agent"}
VERDICT = SCHEMAS["verdict"]
VERDICTS = [
    {"document": "verdict", "schema": 1, "value": documents.to_json(one)}
    for one in found().values()
    if isinstance(one, Verdict)
]
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=3),
    st.sampled_from(["C0", "passed", "verdict", 1, 1.0, 0.5, True, "torch"]),
)  # fmt: skip
JSON = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner)
)

CASES = {
    "type": ({"type": "integer"}, [1, 1.0, 1.5, True, "1", None, [], {}, 10**40]),
    "number": ({"type": "number"}, [1, 1.0, True, "1", None]),
    "boolean": ({"type": "boolean"}, [True, 1, 0, None]),
    "null": ({"type": "null"}, [None, False, 0, ""]),
    "const of text": ({"const": "a"}, ["a", "b", 1, None, ["a"]]),
    "const of a number": ({"const": 1}, [1, 1.0, True, "1", 2]),
    "enum": ({"enum": ["a", "b"]}, ["a", "c", 1, None, ["a"], {}]),
    "anyOf": ({"anyOf": [{"type": "null"}, {"type": "string"}]}, [None, "a", 1, False]),
    "required": ({"required": ["a"]}, [{"a": 1}, {"b": 1}, {}, [], "a"]),
    "closed": (
        {"properties": {"a": {"type": "null"}}, "additionalProperties": False},
        [{}, {"a": None}, {"a": 1}, {"b": None}, [1]],
    ),
    "map": (
        {"propertyNames": {"enum": ["a"]}, "additionalProperties": {"type": "string"}},
        [{}, {"a": "x"}, {"a": 1}, {"b": "x"}],
    ),
    "items": ({"items": {"type": "null"}}, [[], [None], [None, 1], {}, "ab"]),
    "pair": (
        {"prefixItems": [{"type": "null"}, {"type": "string"}], "items": False, "minItems": 2},
        [[None, "a"], [None], [None, "a", 1], ["a", None], []],
    ),
    "itself": (
        {"$ref": "#/$defs/A", "$defs": {"A": {"items": {"$ref": "#/$defs/A"}, "type": "array"}}},
        [[], [[]], [[[]], []], [1], [[1]]],
    ),
}


def fine(schema, value):
    return Draft202012Validator(schema).is_valid(value)


@pytest.mark.parametrize("name", CASES)
def test_keyword_means_the_same(name):
    schema, values = CASES[name]
    check = compiled(schema)
    told = [check(value) for value in values]
    assert told == [fine(schema, value) for value in values]
    assert {True, False} == set(told)


@pytest.mark.parametrize(
    "schema",
    [
        {"pattern": "a"},
        {"oneOf": []},
        {"type": ["null", "string"]},
        {"enum": [1]},
        {"const": None},
        {"const": True},
        {"prefixItems": []},
        {"$ref": "other.json"},
        {"properties": {"a": {"format": "regex"}}},
    ],
)
def test_unknown_keyword_leaves_it_to_jsonschema(schema):
    assert compiled(schema) is None


def test_every_generated_schema_is_known_and_no_hand_written_one():
    assert {name for name, one in SCHEMAS.items() if compiled(one) is None} == HAND_WRITTEN


def test_real_verdicts_pass():
    assert all(map(compiled(VERDICT), VERDICTS))


@given(JSON)
def test_any_value_is_judged_alike_as_a_verdict(value):
    assert compiled(VERDICT)(value) == fine(VERDICT, value)


@given(st.sampled_from(VERDICTS), st.data())
@settings(deadline=None, max_examples=300)
def test_changed_verdict_is_judged_alike(verdict, data):
    changed = copy.deepcopy(verdict)
    place = data.draw(st.sampled_from([*containers(changed)]))
    if isinstance(place, list):
        place.append(data.draw(JSON))
    else:
        key = data.draw(st.sampled_from([*place, "new"]))
        if data.draw(st.booleans()):
            place.pop(key, None)
        else:
            place[key] = data.draw(JSON)
    assert compiled(VERDICT)(changed) == fine(VERDICT, changed)


def containers(value):
    if isinstance(value, dict | list):
        yield value
        for part in value.values() if isinstance(value, dict) else value:
            yield from containers(part)
