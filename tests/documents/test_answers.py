"""Answers of probes: read only where each value has exactly the type that was asked for."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from reb_action.documents import answer_of
from reb_action.model.manifest import Framework


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    size: int
    is_whole: bool
    seconds: float
    text: str | None
    paths: tuple[str, ...]
    pair: tuple[str, int]
    facts: Mapping[Framework, int]


RIGHT = {
    "size": 1, "is_whole": True, "seconds": 2, "text": None, "paths": ["/a"], "pair": ["b", 3],
    "facts": {"torch": 4},
}  # fmt: skip
VALUE = Answer(
    size=1, is_whole=True, seconds=2.0, text=None, paths=("/a",), pair=("b", 3),
    facts={Framework.TORCH: 4},
)  # fmt: skip


def answer(**fields):
    return answer_of(json.dumps({**RIGHT, **fields}).encode(), Answer)


def test_answer_of_the_right_types_is_read():
    assert answer() == VALUE


@pytest.mark.parametrize(
    "fields",
    [
        {"size": "1"},
        {"size": "9" * 400},
        {"size": True},
        {"size": 1.0},
        {"size": 2**63},
        {"size": -(2**63)},
        {"size": None},
        {"is_whole": 1},
        {"is_whole": "yes"},
        {"seconds": "inf"},
        {"seconds": True},
        {"seconds": 10**300},
        {"text": 5},
        {"text": ["a"]},
        {"paths": "ab"},
        {"paths": {"a": 1}},
        {"paths": [1]},
        {"paths": None},
        {"pair": ["b"]},
        {"pair": ["b", 3, 4]},
        {"pair": ["b", "3"]},
        {"facts": [["torch", 4]]},
        {"facts": {"torch": "4"}},
        {"facts": {"theano": 4}},
        {"more": 1},
    ],
)
def test_answer_of_another_type_is_none(fields):
    assert answer(**fields) is None


@pytest.mark.parametrize("data", [None, b"", b"[]", b"null", b"3", b'"size"', b"{}", b"{", b"\xff"])
def test_answer_of_another_shape_is_none(data):
    assert answer_of(data, Answer) is None
