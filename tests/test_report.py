"""Hostile and wrong reports: each ends in one plain line and the right kind of fault."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reb_action import report
from reb_action.model.agent import Report, ReportFault, ReportFaultKind

GOOD = {
    "python_path": "/home/agent/venv/bin/python",
    "python_version": "3.11.2",
    "torch_version": None,
    "cuda_available": None,
    "gpu_count": None,
    "ddp_expected_ok": None,
    "env_tool": "venv",
    "env_name": None,
    "notes": None,
}

NOT_JSON, NOT_VALID, TOO_LARGE = (
    ReportFaultKind.NOT_JSON,
    ReportFaultKind.NOT_VALID,
    ReportFaultKind.TOO_LARGE,
)


def changed(**fields):
    return json.dumps({**GOOD, **fields}).encode()


def without(name):
    return json.dumps({key: value for key, value in GOOD.items() if key != name}).encode()


HOSTILE = {
    "empty": (b"", NOT_JSON, "expecting value at line 1, column 1"),
    "white space": (b" \n ", NOT_JSON, "expecting value at line 2, column 2"),
    "prose": (b"I am done.", NOT_JSON, "expecting value at line 1, column 1"),
    "truncated": (json.dumps(GOOD).encode()[:40], NOT_JSON, "line 1, column 17"),
    "two documents": (b"{} {}", NOT_JSON, "extra data at line 1, column 4"),
    "fenced": (b"```json\n{}\n```", NOT_JSON, "line 1, column 1"),
    "comment": (b'{"a": 1} // done', NOT_JSON, "extra data"),
    "trailing comma": (b'{"a": 1,}', NOT_JSON, "line 1, column"),
    "single quotes": (b"{'a': 1}", NOT_JSON, "line 1, column 2"),
    "not UTF-8": (b'{"a": "\xff"}', NOT_JSON, "it is not UTF-8 (byte 7)"),
    "UTF-16": (json.dumps(GOOD).encode("utf-16"), NOT_JSON, "it is not UTF-8 (byte 0)"),
    "byte order mark": (b"\xef\xbb\xbf{}", NOT_JSON, "byte order mark"),
    "NUL bytes": (b"\x00" * 64, NOT_JSON, "expecting value"),
    "control character": (b'{"a": "\x01"}', NOT_JSON, "invalid control character"),
    "NaN": (changed(gpu_count=float("nan")), NOT_JSON, "NaN is not a JSON number"),
    "Infinity": (changed(gpu_count=float("inf")), NOT_JSON, "Infinity is not a JSON number"),
    "overflowing float": (b'{"a": 1e999}', NOT_JSON, "a number too large"),
    "5,000 digits": (b'{"a": ' + b"9" * 5000 + b"}", NOT_JSON, "too many digits"),
    "duplicate key": (b'{"a": 1, "a": 2}', NOT_JSON, 'the key "a" occurs twice'),
    "deep list": (b"[" * 100_000, NOT_JSON, "too deeply"),
    "deep closed list": (b"[" * 200 + b"]" * 200, NOT_JSON, "more than 64 levels"),
    "deep object": (b'{"a":' * 300 + b"1" + b"}" * 300, NOT_JSON, "more than 64 levels"),
    "half a surrogate": (b'{"a": "\\ud800"}', NOT_JSON, "half of a surrogate pair"),
    "half a surrogate as key": (b'{"\\udfff": 1}', NOT_JSON, "half of a surrogate pair"),
    "2 MiB": (b" " * (2 << 20), TOO_LARGE, "larger than 1048576 bytes"),
    "null": (b"null", NOT_VALID, "null is not of type object"),
    "a list": (b"[]", NOT_VALID, "[] is not of type object"),
    "a string": (b'"ok"', NOT_VALID, '"ok" is not of type object'),
    "a number": (b"7", NOT_VALID, "7 is not of type object"),
    "an empty object": (b"{}", NOT_VALID, "the key python_path is missing"),
    "no python_path": (without("python_path"), NOT_VALID, "the key python_path is missing"),
    "no notes": (without("notes"), NOT_VALID, "the key notes is missing"),
    "null python_path": (changed(python_path=None), NOT_VALID, "python_path: null is not of type"),
    "empty python_path": (changed(python_path=""), NOT_VALID, "python_path"),
    "relative python_path": (changed(python_path="venv/bin/python"), NOT_VALID, "does not match"),
    "NUL in python_path": (changed(python_path="/a\0b"), NOT_VALID, "does not match"),
    "endless python_path": (changed(python_path="/" + "a" * 5000), NOT_VALID, "is too long"),
    "python_version number": (changed(python_version=3.11), NOT_VALID, "3.11 is not of type"),
    "cuda_available text": (changed(cuda_available="true"), NOT_VALID, '"true" is not of type'),
    "cuda_available number": (changed(cuda_available=1), NOT_VALID, "1 is not of type"),
    "gpu_count text": (changed(gpu_count="2"), NOT_VALID, '"2" is not of type'),
    "gpu_count negative": (changed(gpu_count=-1), NOT_VALID, "-1 is less than 0"),
    "gpu_count fraction": (changed(gpu_count=1.5), NOT_VALID, "1.5 is not of type"),
    "gpu_count boolean": (changed(gpu_count=True), NOT_VALID, "true is not of type"),
    "gpu_count huge": (changed(gpu_count=10**12), NOT_VALID, "is more than"),
    "env_tool unknown": (changed(env_tool="nix"), NOT_VALID, '"nix" is not one of conda, uv'),
    "env_tool null": (changed(env_tool=None), NOT_VALID, "env_tool: null is not one of"),
    "packages text": (changed(installed_packages="torch"), NOT_VALID, "is not of type array"),
    "environment list": (changed(environment=["PATH"]), NOT_VALID, "environment"),
    "environment number": (changed(environment={"PATH": 1}), NOT_VALID, "1 is not of type string"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_report_is_one_plain_line(name):
    data, kind, clause = HOSTILE[name]
    fault = report.parse(data)
    assert isinstance(fault, ReportFault)
    assert fault.kind is kind
    assert clause in fault.message
    assert fault.message.startswith("report.json")
    assert fault.message.isprintable()
    assert len(fault.message) < 400


@given(st.binary(max_size=300))
def test_any_bytes_give_a_report_or_a_fault(data):
    assert isinstance(report.parse(data), Report | ReportFault)


def test_good_report_is_read_in_full():
    read = report.parse(changed(gpu_count=2, cuda_available=True, notes="fine"))
    assert read == Report(
        python_path="/home/agent/venv/bin/python",
        python_version="3.11.2",
        torch_version=None,
        cuda_available=True,
        gpu_count=2,
        ddp_expected_ok=None,
        env_tool="venv",
        env_name=None,
        notes="fine",
        environment={},
    )


def test_least_report_of_the_documentation_is_one():
    page = (Path(__file__).parent.parent / "docs" / "agents.md").read_text(encoding="utf-8")
    [example] = re.findall(r"```json\n(.*?)```", page, flags=re.DOTALL)
    claimed = report.parse(example.encode())
    assert isinstance(claimed, Report)
    assert (claimed.python_path, claimed.env_tool) == ("/home/agent/venv/bin/python", "venv")


def test_further_fields_and_the_papers_optional_ones_are_accepted():
    read = report.parse(
        changed(
            installed_packages=[{"name": "torch"}],
            capabilities={"training": True},
            artifacts=None,
            dataset_hf_id="a/b",
            mood="confident",
        )
    )
    assert isinstance(read, Report)


def test_only_listed_variables_of_the_environment_are_kept():
    read = report.parse(
        changed(environment={"PATH": "/opt/bin", "LD_PRELOAD": "/evil.so", "PYTHONPATH": "/x"})
    )
    assert isinstance(read, Report)
    assert read.environment == {"PATH": "/opt/bin"}


@pytest.mark.parametrize(
    ("data", "lacks"),
    [
        (b"{}", True),
        (changed(python_path=""), True),
        (changed(python_path=None), True),
        (json.dumps(GOOD).encode(), False),
        (b"[]", False),
        (b"not json", False),
    ],
)
def test_a_report_that_names_no_interpreter_is_told_apart(data, lacks):
    assert report.lacks_path(data) is lacks
