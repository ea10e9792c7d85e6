"""The report with the claims of an agent, and the faults that make a report unusable."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final


@dataclass(frozen=True, kw_only=True, slots=True)
class FieldFault:
    """One field of the report that breaks the contract; the rest of the report is used.

    `field` is `report.json` if the text itself is at fault.
    """

    field: str
    message: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """What the agent claims; None says "not verified", or that the field cannot be used.

    `python_path` is empty if the report names no interpreter that can be run. Then nothing can be
    measured, but the other claims still count. Unknown fields are not kept.
    """

    python_path: str
    python_version: str | None
    torch_version: str | None
    cuda_available: bool | None
    gpu_count: int | None
    ddp_expected_ok: bool | None
    env_tool: str | None
    env_name: str | None
    notes: str | None
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    faults: tuple[FieldFault, ...] = ()


PAPER_FIELDS: Final = (
    "python_path",
    "python_version",
    "torch_version",
    "cuda_available",
    "gpu_count",
    "ddp_expected_ok",
)
"""The fields of a report that the paper's C5 compares with observations: the checkable claims."""


class ReportFaultKind(StrEnum):
    """Why a report is unusable."""

    MISSING = "missing"
    NOT_A_FILE = "not_a_file"
    TOO_LARGE = "too_large"
    NOT_JSON = "not_json"
    NOT_VALID = "not_valid"


@dataclass(frozen=True, kw_only=True, slots=True)
class ReportFault:
    """Why there is no usable report. This outcome is expected, so it is a value, not an error."""

    kind: ReportFaultKind
    message: str


def find_blocking_fault(report: Report | ReportFault) -> ReportFault | None:
    """Return why no level can be measured with a report; None if it names an interpreter."""
    if isinstance(report, ReportFault):
        return report
    if report.python_path:
        return None
    reasons = (fault.message for fault in report.faults if fault.field == "python_path")
    return make_report_fault(next(reasons, "python_path names no interpreter"))


def make_report_fault(reason: str) -> ReportFault:
    """Return the fault of a report in which nothing can be used."""
    return ReportFault(kind=ReportFaultKind.NOT_VALID, message=f"report.json: {reason}")
