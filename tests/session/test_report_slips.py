"""One mistake in a report does not lose the trial: it is named, and C5 has its own rule for it."""

from collections import Counter
from pathlib import Path
from time import monotonic

import pytest

from reb_action.judge.judge import judge
from reb_action.model.manifest import Level, Outcome
from reb_action.model.report import Report, find_blocking_fault
from reb_action.model.verdict import ClaimKind
from reb_action.render.remarks import list_remarks
from reb_action.session import report
from tests.support.evidence import evidence, interpreter
from tests.support.slips import SLIPS


def judged(slip):
    """Judge the report in a right environment; what names no interpreter is measured in none."""
    claimed = report.parse(slip.data)
    if find_blocking_fault(claimed) is None:
        return judge(evidence(report=claimed))
    return judge(evidence(report=claimed, interpreter=None, observations={}))


@pytest.mark.parametrize("name", SLIPS)
def test_slip_blocks_only_without_an_interpreter(name):
    slip = SLIPS[name]
    verdict = judged(slip)
    outcomes = {verdict.result(level).outcome for level in Level if level is not Level.C5}
    assert outcomes == {Outcome.BLOCKED if slip.blocked else Outcome.PASSED}
    assert (verdict.report_fault is not None) is slip.blocked
    assert {one.field for one in verdict.field_faults} == set(slip.faults)
    honesty = verdict.result(Level.C5)
    assert (honesty.outcome, honesty.paper) == (slip.strict, slip.paper)
    assert tuple(map(verdict.audit.hallucinations, ClaimKind)) == slip.counts


@pytest.mark.parametrize("name", SLIPS)
def test_slip_is_named_in_plain_short_lines(name):
    verdict = judged(SLIPS[name])
    lines = [one.message for one in verdict.field_faults]
    if verdict.report_fault is not None:
        lines.append(verdict.report_fault.message)
    assert all(line.isprintable() and len(line) < 400 for line in lines)
    assert all(line.strip() for line in lines)
    assert len(lines) <= report.FAULTS_SHOWN + 1
    remark = next((each for each in list_remarks(verdict) if "report.json" in each.label), None)
    shown = remark.items if remark else ()
    assert len(shown) == len(verdict.field_faults)


def test_figures_are_those_of_the_documentation():
    before = Counter(slip.before for slip in SLIPS.values())
    unnamed = sum(slip.blocked and not slip.faults for slip in SLIPS.values())
    blocked = sum(slip.blocked for slip in SLIPS.values())
    figures = (
        f"Of {len(SLIPS)} reports with a slip (honest and hostile, `tests/support/slips.py`),"
        f" {before['blocked']} blocked every level before this rule. Now {blocked} do:"
        f" {blocked - unnamed} name no interpreter, {unnamed} are no JSON object."
    )
    page = (Path(__file__).parents[2] / "docs" / "c5.md").read_text(encoding="utf-8")
    assert figures in " ".join(page.split())


def test_rest_of_a_report_with_slips_is_used():
    data = (
        b'\xef\xbb\xbf{"python_path": "/p", "python_version": "3.11.2", "torch_version": 7,'
        b' "cuda_available": true, "gpu_count": "8", "ddp_expected_ok": null, "env_tool": "nix",'
        b' "env_name": "e", "notes": "caf\xe9", "environment": {"PATH": "/b", "CUDA_HOME": 1,'
        b' "HOME": "/x"}}'
    )
    read = report.parse(data)
    assert isinstance(read, Report)
    assert [(one.field, one.message) for one in read.faults] == [
        ("torch_version", "torch_version: 7 is not of type string or null"),
        ("gpu_count", 'gpu_count: "8" is not of type integer or null'),
        ("env_tool", 'env_tool: "nix" is not one of conda, uv, pip, poetry, venv, none'),
        ("report.json", "it starts with a byte order mark"),
        ("report.json", "it is not UTF-8 (byte 189)"),
        ("environment", "environment.CUDA_HOME: 1 is not of type string; it is not set"),
        ("environment", "environment.HOME: this variable may not be set; it is ignored"),
    ]
    assert (read.python_version, read.torch_version, read.gpu_count) == ("3.11.2", None, None)
    assert (read.cuda_available, read.env_tool, read.env_name) == (True, None, "e")
    assert read.notes == "caf\N{REPLACEMENT CHARACTER}"
    assert dict(read.environment) == {"PATH": "/b"}


HOSTILE = {
    "quotes that are never closed": b'{"a": "' + b'\\"' * 500_000,
    "130,000 keys of one name": b"{" + b'"a": 1, ' * 130_000 + b'"a": 1}',
    "340,000 packages": b'{"installed_packages": [' + b"1, " * 340_000 + b"1]}",
    "80,000 variables": b'{"environment": {'
    + b",".join(b'"%d": 1' % number for number in range(80_000))
    + b"}}",
    "brackets in a text": b'{"notes": "' + b"[" * 1_000_000 + b'"}',
    "a million digits": b'{"gpu_count": ' + b"9" * 1_000_000 + b"}",
    "170,000 surrogates": b'{"notes": "' + b"\\ud800" * 170_000 + b'"}',
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_report_of_a_megabyte_is_read_in_seconds(name):
    data = HOSTILE[name]
    assert len(data) <= report.LIMIT_BYTES
    start = monotonic()
    report.parse(data)
    assert monotonic() - start < 20


def test_report_that_an_older_reb_blocked_is_not_held_against_the_agent():
    claimed = report.parse(SLIPS["env_tool micromamba"].data)
    old = report.ReportFault(kind=report.ReportFaultKind.NOT_VALID, message="report.json: env_tool")
    frozen = evidence(report=claimed, interpreter=None, observations={})
    assert frozen.freeze is not None
    verdict = judge(evidence(
        report=claimed, interpreter=None, observations={},
        freeze=type(frozen.freeze)(
            report=old, report_sha256="0" * 64, touched=(), survivors=(), native=()
        ),
    ))  # fmt: skip
    result = verdict.result(Level.C1)
    assert result.outcome is Outcome.INVALID
    assert result.reason == (
        "not measured: report.json: env_tool, to the reb that froze it; run again"
    )
    assert verdict.result(Level.C5).outcome is Outcome.INVALID


def test_interpreter_that_was_not_confirmed_needs_a_report_that_names_one():
    verdict = judge(evidence(report=report.parse(b"{}"), interpreter=interpreter()))
    assert verdict.result(Level.C1).outcome is Outcome.BLOCKED
