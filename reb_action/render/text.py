"""A verdict in plain lines: for a terminal, a log, a screen reader."""

from collections.abc import Iterator
from typing import Final

from reb_action.levels import spec_of
from reb_action.model.manifest import Outcome
from reb_action.model.verdict import Claim, LevelResult, Standing, Verdict
from reb_action.render.escape import log

MARKS: Final = {
    Outcome.PASSED: "passed",
    Outcome.FAILED: "FAILED",
    Outcome.BLOCKED: "BLOCKED",
    Outcome.NOT_APPLICABLE: "n/a",
    Outcome.INVALID: "INVALID",
}
"""Words, not colours: they read the same in a log and in a screen reader."""


def verdict_lines(verdict: Verdict) -> Iterator[str]:
    """Yield the verdict, level by level, then what the report claims beside what was seen."""
    yield f"{log(verdict.trial)}: {headline(verdict)}"
    for result in verdict.results:
        yield level_line(result)
        yield from cause_lines(result)
    yield from claim_lines(verdict)
    if verdict.touched:
        paths = ", ".join(one.path for one in verdict.touched)
        yield f"tracked files changed and restored: {log(paths)}"
    if verdict.survivors:
        yield f"processes that the agent left: {log(', '.join(verdict.survivors))}"


def headline(verdict: Verdict) -> str:
    """Return how many applicable levels passed, and whether the verdict is complete."""
    counted = [one for one in verdict.results if one.outcome in _COUNTED]
    passed = sum(one.outcome is Outcome.PASSED for one in counted)
    missing = [one.level for one in verdict.results if one.outcome is Outcome.INVALID]
    told = f"{passed} of {len(counted)} levels passed"
    return f"{told}; not measured: {', '.join(missing)}" if missing else told


def level_line(result: LevelResult) -> str:
    """Return one level in one line."""
    title = spec_of(result.level).title
    numbers = ""
    if result.imports is not None and result.outcome in (Outcome.PASSED, Outcome.FAILED):
        count = result.imports
        numbers = f" (paper: {count.missing} of {count.total} missing)"
    return f"{result.level} {title:16} {MARKS[result.outcome]:8} {log(result.reason)}{numbers}"


def cause_lines(result: LevelResult) -> Iterator[str]:
    """Yield the likely cause of a failure and, if one proves it, the line of the log."""
    if result.diagnosis is not None:
        yield f"   likely cause: {result.diagnosis.sentence}"
        if result.diagnosis.line:
            yield f"   from its log: {log(result.diagnosis.line)}"


def claim_lines(verdict: Verdict) -> Iterator[str]:
    """Yield each claim of the report with its standing, then those not made."""
    for claim in verdict.audit.claims:
        if claim.standing is not Standing.NOT_MADE:
            yield f"claim {_claim(claim)}"
    silent = [one.field for one in verdict.audit.claims if one.standing is Standing.NOT_MADE]
    if silent:
        yield f"claims not made: {', '.join(silent)}"


def _claim(claim: Claim) -> str:
    said = log(claim.claimed or "nothing")
    if claim.standing is Standing.REFUTED:
        word = "UNDER-CLAIM" if claim.under_claim else "REFUTED"
        return f"{claim.field} = {said}: {word}, observed {log(claim.observed or 'nothing')}"
    return f"{claim.field} = {said}: {claim.standing}"


_COUNTED: Final = (Outcome.PASSED, Outcome.FAILED, Outcome.BLOCKED)
