"""JSON of an agent is read tolerantly: equal to Python's reading of right JSON, whatever else."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reb_action.documents import NotJsonError, find_oddity, parse_tolerantly

LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(JSON)
def test_right_json_is_read_as_it_is_without_a_fault(value):
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=1)):
        read = parse_tolerantly(text.encode("utf-8", "surrogatepass"))
        assert (read.value, read.faults, read.repeated) == (json.loads(text), (), ())


@given(st.binary(max_size=200) | st.text(alphabet='{}[]",:\\ \x00\n1e9aNInf\ufeff').map(str.encode))
def test_any_bytes_are_a_value_or_refused_in_one_line(data):
    read, clauses = None, ()
    try:
        read = parse_tolerantly(data)
    except NotJsonError as error:
        clauses = (str(error),)
    if read is not None:
        clauses = (*read.faults, find_oddity(read.value) or "")
    assert all(clause.isprintable() for clause in clauses)


@pytest.mark.parametrize("depth", [500, 501])
def test_depth_is_counted_outside_of_texts(depth):
    data = b'{"a": "[[[[\\"[[", "b": ' + b"[" * (depth - 1) + b"]" * (depth - 1) + b"}"
    if depth <= 500:
        assert parse_tolerantly(data).faults == ()
    else:
        with pytest.raises(NotJsonError, match="more than 500 levels"):
            parse_tolerantly(data)


def test_repeated_keys_are_told_apart_from_those_further_in():
    read = parse_tolerantly(b'{"a": {"b": 1, "b": 2}, "a": 3, "c": {"c": 1}, "a": 4}')
    assert read.value == {"a": 4, "c": {"c": 1}}
    assert read.repeated == ("a",)
    assert read.faults == ('the key "b" occurs twice in one object',)


def test_repeated_keys_of_a_list_are_faults_of_the_text():
    read = parse_tolerantly(b'[{"a": 1, "a": 2}]')
    assert (read.repeated, read.faults) == ((), ('the key "a" occurs twice in one object',))
