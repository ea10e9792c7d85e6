"""The fast validator accepts exactly the values that jsonschema accepts."""

import copy
import functools
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from reb_action import documents
from reb_action.documents import find_problem
from reb_action.documents.problem import _FORMATS
from reb_action.documents.schema import _fast_validator
from reb_action.documents.strict_yaml import parse_yaml
from reb_action.model.verdict import Verdict
from tests.support.scoreboards import found

FOLDER = Path(__file__).parents[2] / "schemas"
SCHEMAS = {
    path.name.removesuffix(".schema.json"): json.loads(path.read_text())
    for path in sorted(FOLDER.glob("*.schema.json"))
}
VERDICTS = [
    {"document": "verdict", "schema": 1, "value": documents.to_json(verdict)}
    for verdict in found().values()
    if isinstance(verdict, Verdict)
]
REPORT = {
    "python_path": "/opt/env/bin/python", "python_version": "3.11.2", "torch_version": None,
    "cuda_available": None, "gpu_count": 0, "ddp_expected_ok": None, "env_tool": "venv",
    "env_name": None, "notes": None,
}  # fmt: skip
ROOT = FOLDER.parent
VALID = {
    "verdict": VERDICTS,
    "report": [REPORT],
    "manifest": [parse_yaml(path.read_bytes(), path.name) for path in ROOT.glob("repos/*.yaml")],
    "agent": [
        parse_yaml(path.read_bytes(), path.name)
        for path in ROOT.glob("reb_action/agents/definitions/*.yaml")
    ],
}
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=3),
    st.sampled_from(["C0", "passed", "verdict", 1, 1.0, 0.5, True, "torch", "/a\n", "^("]),
)  # fmt: skip
JSON = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner)
)


@functools.cache
def slow_validator(schema):
    return Draft202012Validator(SCHEMAS[schema], format_checker=_FORMATS)


def is_valid_by_jsonschema(schema, value):
    return slow_validator(schema).is_valid(value)


def test_real_verdicts_are_valid():
    assert all(_fast_validator("verdict").is_valid(verdict) for verdict in VERDICTS)


@pytest.mark.parametrize("schema", SCHEMAS)
@given(value=JSON)
@settings(deadline=None, max_examples=25)
def test_any_value_is_valid_in_both_or_in_neither(schema, value):
    assert _fast_validator(schema).is_valid(value) == is_valid_by_jsonschema(schema, value)


@pytest.mark.parametrize("schema", ["verdict", "report", "manifest", "agent"])
@given(data=st.data())
@settings(deadline=None, max_examples=100)
def test_changed_document_is_valid_in_both_or_in_neither(schema, data):
    changed = copy.deepcopy(data.draw(st.sampled_from(VALID[schema])))
    place = data.draw(st.sampled_from([*containers(changed)]))
    if isinstance(place, list):
        place.append(data.draw(JSON))
    else:
        key = data.draw(st.sampled_from([*place, "new"]))
        if data.draw(st.booleans()):
            place.pop(key, None)
        else:
            place[key] = data.draw(JSON)
    assert _fast_validator(schema).is_valid(changed) == is_valid_by_jsonschema(schema, changed)


@pytest.mark.parametrize(
    ("pattern", "is_wrong"),
    [
        (r"\p{L}abc", True),
        ("(((", True),
        (r"(?P<loss>\d+)", False),
        (r"done\Z", False),
        ("a{4294967296}", True),
    ],
)
def test_regex_format_is_that_of_python(pattern, is_wrong):
    manifest = copy.deepcopy(next(one for one in VALID["manifest"] if log_proofs(one)))
    log_proofs(manifest)[0]["log"] = pattern
    assert (find_problem(manifest, "manifest") is not None) == is_wrong


def test_half_a_surrogate_pair_is_answered_by_jsonschema():
    assert find_problem({**REPORT, "notes": "\ud800"}, "report") is None
    assert find_problem({**REPORT, "notes": 3}, "report") is not None


def log_proofs(manifest):
    return [part for part in containers(manifest) if isinstance(part, dict) and "log" in part]


def containers(value):
    if isinstance(value, dict | list):
        yield value
        for part in value.values() if isinstance(value, dict) else value:
            yield from containers(part)
