"""Wrong reports: each fault is one plain line, of the whole report or of one field of it."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reb_action.model.report import Report, ReportFault, ReportFaultKind, find_blocking_fault
from reb_action.session import report

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


UNUSABLE = {
    "empty": (b"", NOT_JSON, "expecting value at line 1, column 1"),
    "white space": (b" \n ", NOT_JSON, "expecting value at line 2, column 2"),
    "prose": (b"I am done.", NOT_JSON, "expecting value at line 1, column 1"),
    "truncated": (json.dumps(GOOD).encode()[:40], NOT_JSON, "line 1, column 17"),
    "two documents": (b"{} {}", NOT_JSON, "extra data at line 1, column 4"),
    "fenced": (b"```json\n{}\n```", NOT_JSON, "line 1, column 1"),
    "comment": (b'{"a": 1} // done', NOT_JSON, "extra data"),
    "trailing comma": (b'{"a": 1,}', NOT_JSON, "line 1, column"),
    "single quotes": (b"{'a': 1}", NOT_JSON, "line 1, column 2"),
    "UTF-16": (json.dumps(GOOD).encode("utf-16"), NOT_JSON, "it is not UTF-8 (byte 0)"),
    "NUL bytes": (b"\x00" * 64, NOT_JSON, "expecting value"),
    "deep list": (b"[" * 100_000, NOT_JSON, "more than 500 levels"),
    "deep closed list": (b"[" * 501 + b"]" * 501, NOT_JSON, "more than 500 levels"),
    "deep object": (b'{"a":' * 600 + b"1" + b"}" * 600, NOT_JSON, "more than 500 levels"),
    "2 MiB": (b" " * (2 << 20), TOO_LARGE, "larger than 1048576 bytes"),
    "null": (b"null", NOT_VALID, "null is not of type object"),
    "a list": (b"[]", NOT_VALID, "[] is not of type object"),
    "a string": (b'"ok"', NOT_VALID, '"ok" is not of type object'),
    "a number": (b"7", NOT_VALID, "7 is not of type object"),
    "an infinite number": (b"1e999", NOT_VALID, "Infinity is not of type object"),
    "an empty object": (b"{}", NOT_VALID, "the key python_path is missing"),
    "no python_path": (without("python_path"), NOT_VALID, "the key python_path is missing"),
    "null python_path": (changed(python_path=None), NOT_VALID, "python_path: null is not of type"),
    "empty python_path": (changed(python_path=""), NOT_VALID, "python_path"),
    "relative python_path": (changed(python_path="venv/bin/python"), NOT_VALID, "does not match"),
    "NUL in python_path": (changed(python_path="/a\0b"), NOT_VALID, "does not match"),
    "endless python_path": (changed(python_path="/" + "a" * 5000), NOT_VALID, "is too long"),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_unusable_report_is_one_plain_line(name):
    data, kind, clause = UNUSABLE[name]
    fault = find_blocking_fault(report.parse(data))
    assert fault is not None
    assert fault.kind is kind
    assert clause in fault.message
    assert fault.message.startswith("report.json")
    assert fault.message.isprintable()
    assert len(fault.message) < 400


FIELDS = {
    "not UTF-8": (b'{"a": "\xff"}', "it is not UTF-8 (byte 7)"),
    "byte order mark": (b"\xef\xbb\xbf{}", "it starts with a byte order mark"),
    "control character": (b'{"a": "\x01"}', "invalid control character at line 1, column 8"),
    "NaN": (changed(mood=float("nan")), "mood: it has NaN, which is not a JSON number"),
    "overflowing float": (b'{"a": 1e999}', "a: it has a number too large to represent"),
    "5,000 digits": (b'{"a": ' + b"9" * 5000 + b"}", "a: it has a number too large to represent"),
    "duplicate key": (b'{"a": 1, "a": 2}', 'the key "a" occurs twice; its last value is used'),
    "half a surrogate": (b'{"a": "\\ud800"}', "a: it has an unpaired surrogate"),
    "no notes": (without("notes"), "the key notes is missing"),
    "python_version number": (
        changed(python_version=3.11),
        "python_version: 3.11 is not of type string or null",
    ),
    "cuda_available text": (
        changed(cuda_available="true"),
        'cuda_available: "true" is not of type boolean or null',
    ),
    "gpu_count negative": (changed(gpu_count=-1), "gpu_count: -1 is less than 0"),
    "gpu_count huge": (
        changed(gpu_count=10**12),
        "gpu_count: 1000000000000 is more than 100000",
    ),
    "env_tool unknown": (
        changed(env_tool="nix"),
        'env_tool: "nix" is not one of conda, uv, pip, poetry, venv, none',
    ),
    "packages": (
        changed(installed_packages=["torch"]),
        'installed_packages.0: "torch" is not of type object',
    ),
    "environment list": (
        changed(environment=["PATH"]),
        'environment: ["PATH"] is not of type object or null',
    ),
    "environment number": (
        changed(environment={"PATH": 1}),
        "environment.PATH: 1 is not of type string; it is not set",
    ),
}


@pytest.mark.parametrize("name", FIELDS)
def test_fault_of_a_field_is_one_plain_line(name):
    data, message = FIELDS[name]
    read = report.parse(data)
    assert isinstance(read, Report)
    assert message in [one.message for one in read.faults]


def test_good_report_has_no_fault():
    read = report.parse(json.dumps(GOOD).encode())
    assert isinstance(read, Report)
    assert read.faults == ()
    assert find_blocking_fault(read) is None


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
    page = (Path(__file__).parents[2] / "docs" / "agents.md").read_text(encoding="utf-8")
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
    assert [one.message for one in read.faults] == [
        f"environment.{name}: this variable may not be set; it is ignored"
        for name in ("LD_PRELOAD", "PYTHONPATH")
    ]
