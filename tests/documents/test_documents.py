"""Documents: strict in, canonical out, whole or not at all; every refusal is one plain line."""

import json
import os
import re
import resource
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reb_action import documents
from reb_action.documents import NotJsonError, dump_json, files, find_problem, parse_json, show
from reb_action.errors import DocumentError
from reb_action.gateway.ledger_state import LedgerState
from reb_action.model.agent import AgentRun, Ending, Freeze, Touched
from reb_action.session.evidence import DOCUMENTS
from reb_action.session.progress import AgentProgress
from tests.support.values import LEVELS  # noqa: F401  registers the strategies of our values

RUN = AgentRun(
    agent="nop", version="1", ending=Ending.DONE, exit_code=0, seconds=1.5, setup_seconds=0.0
)
EMPTY = Freeze(report=None, report_sha256=None, touched=(), survivors=(), native=())


def encoded(value, kind):
    return dump_json({"document": kind, "schema": 1, "value": documents.to_json(value)})


def changed(**fields):
    whole = json.loads(encoded(RUN, "agent_run"))
    return json.dumps({**whole, "value": {**whole["value"], **fields}}).encode()


def decode(data, kind="agent_run"):
    return documents.decode(data, DOCUMENTS[kind], kind=kind, name=f"{kind}.json")


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_any_value_comes_back_as_it_was(kind):
    @settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
    @given(value=st.from_type(DOCUMENTS[kind]))
    def comes_back(value):
        data = encoded(value, kind)
        again = decode(data, kind)
        assert again == value
        assert encoded(again, kind) == data

    comes_back()


def test_writing_and_reading(tmp_path):
    path = tmp_path / "deep" / "agent.json"
    data = documents.write(path, RUN, kind="agent_run")
    assert path.read_bytes() == data
    assert documents.read(path, AgentRun, kind="agent_run") == RUN
    assert [one.name for one in path.parent.iterdir()] == ["agent.json"]


def test_what_could_not_be_read_again_is_not_written(tmp_path, monkeypatch):
    path = tmp_path / "agent.json"
    monkeypatch.setattr(files, "LIMIT_BYTES", len(encoded(RUN, "agent_run")))
    data = documents.write(path, RUN, kind="agent_run")
    with pytest.raises(DocumentError, match=r"^agent\.json would have more than"):
        documents.write(path, replace(RUN, agent="nope"), kind="agent_run")
    assert path.read_bytes() == data


def test_what_cannot_be_written_is_told_before(monkeypatch):
    assert documents.find_refusal(RUN, kind="agent_run") is None
    no_number = replace(RUN, seconds=float("nan"))
    refusal = documents.find_refusal(no_number, kind="agent_run")
    assert re.match(
        "the document agent_run could not be written: .*; please report this error of reb$", refusal
    )
    wrong = "the document agent_run is not a agent_run document of schema 1: value.seconds: "
    text = documents.find_refusal(replace(RUN, seconds="1"), kind="agent_run")
    assert text == f'{wrong}"1" is not of type number'
    monkeypatch.setattr(files, "LIMIT_BYTES", 9)
    too_long = documents.find_refusal(RUN, kind="agent_run")
    assert too_long == "the document agent_run would have more than 9 bytes"


def test_bytes_are_canonical():
    assert dump_json({"b": [1, 2.5, None], "a": {"ü": "\n"}}) == (
        '{\n  "a": {\n    "ü": "\\n"\n  },\n  "b": [\n    1,\n    2.5,\n    null\n  ]\n}\n'.encode()
    )


def test_order_of_keys_does_not_matter():
    assert dump_json({"a": 1, "b": 2}) == dump_json({"b": 2, "a": 1})


LIMITS = {
    # bytes, and whether they are within the limits of what is parsed
    "64 levels": (b"[" * 64 + b"]" * 64, True),
    "64 levels and a leaf": (b"[" * 64 + b"1" + b"]" * 64, False),
    "64 objects and a leaf": (b'{"a":' * 64 + b"1" + b"}" * 64, False),
    "63 levels and a leaf": (b"[" * 63 + b"1" + b"]" * 63, True),
    "largest float": (b"1.7976931348623157e308", True),
    "beyond it": (b"1.7976931348623159e308", False),
    "negative, beyond it": (b'{"a": [-2E+0308]}', False),
    "smallest float": (b"1e-999", True),
    "many digits, small exponent": (b"1" * 250 + b".5e99", False),
    "few digits, small exponent": (b"1" * 199 + b".5e99", True),
    "digits of a string": (b'"' + b"1" * 400 + b'"', True),
    "exponent in a string": (b'["1e999"]', True),
    "a pair": (rb'"\ud83d\ude00"', True),
    "half a pair": (rb'["\uD83D"]', False),
    "half a pair in a key": (rb'{"\ude00": 1}', False),
    "halves the wrong way round": (rb'"\ude00\ud83d"', False),
    "a backslash before what looks like half": (rb'"\\\\ud83d"', True),
}


@pytest.mark.parametrize("name", LIMITS)
def test_limits_of_what_is_parsed(name):
    data, fine = LIMITS[name]
    try:
        parse_json(data)
    except NotJsonError:
        assert not fine
    else:
        assert fine


REFUSED = {
    "no JSON": (b"{", "agent_run.json is not valid JSON: expecting property name"),
    "no UTF-8": (b'"\xff"', "agent_run.json is not valid JSON: it is not UTF-8 (byte 1)"),
    "a key twice": (b'{"a": 1, "a": 1}', 'the key "a" occurs twice in one object'),
    "NaN": (changed(seconds=float("nan")), "NaN is not a JSON number"),
    "infinity": (changed(seconds=float("-inf")), "-Infinity is not a JSON number"),
    "too large a float": (b'{"a": 1e309}', "it has a number too large to represent"),
    "too large an integer": (b'{"a": 1' + b"0" * 400 + b"}", "a number too large to represent"),
    "too many digits": (b'{"a": 1' + b"0" * 9000 + b"}", "a number with too many digits"),
    "too deep": (b"[" * 99 + b"]" * 99, "nested more than 64 levels deep"),
    "another document": (
        encoded(EMPTY, "freeze"),
        'is not a agent_run document of schema 1: it says {"document": "freeze", "schema": 1}',
    ),
    "another schema": (
        encoded(RUN, "agent_run").replace(b'"schema": 1', b'"schema": 2'),
        'is not a agent_run document of schema 1: it says {"document": "agent_run", "schema": 2}',
    ),
    "an unknown key": (changed(mood="good"), 'value: the key "mood" is not known'),
    "a key misspelt": (
        changed(second=1),
        'the key "second" is not known; perhaps you meant seconds',
    ),
    "a wrong type": (changed(seconds="long"), 'value.seconds: "long" is not of type number'),
    "a boolean for a number": (changed(seconds=True), "value.seconds: true is not of type number"),
    "an unknown word": (changed(ending="gone"), 'value.ending: "gone" is not one of done, gave_up'),
    "a bare value": (b"null", "the document: null is not of type object"),
    "no value": (b'{"document": "agent_run", "schema": 1}', "the key value is missing"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusal_is_one_plain_line(name):
    data, clause = REFUSED[name]
    with pytest.raises(DocumentError) as caught:
        decode(data)
    message = str(caught.value)
    assert clause in message
    assert message.startswith("agent_run.json")
    assert message.isprintable()
    assert len(message) < 400


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_json_or_refused(data):
    try:
        value = parse_json(data)
    except NotJsonError:
        return
    assert parse_json(dump_json(value)) == value


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)


@settings(deadline=None)
@given(value=JSON, kind=st.sampled_from(sorted(DOCUMENTS)), field=st.sampled_from(["value", "x"]))
def test_any_json_is_a_document_or_refused_in_one_line(value, kind, field):
    data = json.dumps({"document": kind, "schema": 1, field: value}).encode()
    # Each of their fields has a default.
    empty = {"ledger": LedgerState(), "progress": AgentProgress()}
    if (field, value) == ("value", {}) and kind in empty:
        assert decode(data, kind) == empty[kind]
        return
    with pytest.raises(DocumentError) as caught:
        decode(data, kind)
    assert str(caught.value).isprintable()


def test_place_of_a_fault_is_printable_whatever_its_name():
    environment = {"a\n::error::b": 1}
    told = find_problem({"environment": environment}, "report")
    assert told is None or told.isprintable()
    fields = ("python_path", "env_tool", "env_name", "notes", "python_version", "torch_version")
    rest = ("cuda_available", "gpu_count", "ddp_expected_ok")
    report = {**dict.fromkeys((*fields, *rest)), "python_path": "/p", "env_tool": "none"}
    told = find_problem({**report, "environment": environment}, "report")
    assert told == 'environment."a�::error::b": 1 is not of type string'


def test_line_break_after_a_path_is_no_end():
    hash_ = {"repository": "a/b\n", "commit": "0" * 40, "domain": "example", "imports": 1}
    assert find_problem(hash_, "manifest").startswith('repository: "a/b�" does not match')


@pytest.mark.parametrize(
    ("value", "clause"),
    [
        (AgentRun(**{**documents.to_json(RUN), "seconds": float("nan")}), "nan"),
        (AgentRun(**{**documents.to_json(RUN), "agent": "\ud800"}), "unpaired surrogate"),
        (AgentRun(**{**documents.to_json(RUN), "exit_code": 10**400}), "too large"),
        (AgentRun(**{**documents.to_json(RUN), "agent": None}), "null is not of type string"),
        (Touched(path="a", change="gone"), "document"),
    ],
)
def test_what_could_not_be_read_back_is_not_written(tmp_path, value, clause):
    path = tmp_path / "agent.json"
    with pytest.raises(DocumentError, match=r"agent\.json") as caught:
        documents.write(path, value, kind="agent_run")
    assert clause in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_failed_write_leaves_the_old_file_whole(tmp_path):
    path = tmp_path / "agent.json"
    data = documents.write(path, RUN, kind="agent_run")
    with pytest.raises(TypeError):
        documents.write_bytes(path, "text")
    assert path.read_bytes() == data
    assert [one.name for one in tmp_path.iterdir()] == ["agent.json"]


def test_reader_of_the_old_file_keeps_it(tmp_path):
    path = tmp_path / "agent.json"
    documents.write_bytes(path, b"old")
    with path.open("rb") as reader:
        documents.write_bytes(path, b"new")
        assert reader.read() == b"old"
    assert path.read_bytes() == b"new"


def link(path):
    path.with_name("target").write_bytes(encoded(RUN, "agent_run"))
    path.symlink_to("target")


PLACES = {
    "missing": (str, "does not exist; run the step that makes it first"),
    "link": (link, "is not a regular file; remove it and run the step again"),
    "link to nothing": (lambda path: path.symlink_to("nowhere"), "is not a regular file"),
    "folder": (lambda path: path.mkdir(), "is not a regular file"),
    "pipe": (os.mkfifo, "is not a regular file"),
    "too large": (lambda path: path.write_bytes(b" " * 101), "is larger than 100 bytes"),
}


def test_a_full_disk_is_told_with_its_path_and_keeps_what_was_there(tmp_path):
    path = tmp_path / "value.json"
    documents.write_bytes(path, b"old")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large") as told:
            documents.write_bytes(path, b"n" * 1001)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert told.value.filename == str(path)
    assert [(one.name, one.read_bytes()) for one in tmp_path.iterdir()] == [("value.json", b"old")]


@pytest.mark.parametrize("name", PLACES)
def test_what_is_no_file_of_ours_is_not_read(tmp_path, name):
    make, clause = PLACES[name]
    path = tmp_path / "agent.json"
    make(path)
    with pytest.raises(DocumentError, match=clause):
        documents.read_bytes(path, limit=100)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("a", '"a"'),
        ("a\nb\x1b\u202e", '"a���b"'.replace("���b", "�b��")),
        ("x" * 99, '"' + "x" * 79 + '…"'),
        (True, "true"),
        (None, "null"),
        ([1, "a"], '[1, "a"]'),
        ({"a": 1}, '{"a": 1}'),
        (2.5, "2.5"),
    ],
)
def test_untrusted_values_are_shown_short_and_printable(value, shown):
    assert show(value) == shown


def test_document_of_an_older_reb_is_read_with_the_defaults_of_what_it_lacks():
    whole = json.loads(encoded(EMPTY, "freeze"))
    del whole["value"]["copies"]
    assert decode(json.dumps(whole).encode(), "freeze") == EMPTY
    del whole["value"]["touched"]
    with pytest.raises(DocumentError, match="the key touched is missing"):
        decode(json.dumps(whole).encode(), "freeze")
