"""Says why nothing can be measured with a report."""

from reb_action.model.agent import Report, ReportFault, ReportFaultKind


def blocking_fault(report: Report | ReportFault) -> ReportFault | None:
    """Return why nothing can be measured with a report, None where it names an interpreter."""
    if isinstance(report, ReportFault):
        return report
    if report.python_path:
        return None
    reasons = (one.message for one in report.faults if one.field == "python_path")
    return unusable_report(next(reasons, "python_path names no interpreter"))


def unusable_report(why: str) -> ReportFault:
    """Return the fault of a report of which nothing can be used."""
    return ReportFault(kind=ReportFaultKind.NOT_VALID, message=f"report.json: {why}")
