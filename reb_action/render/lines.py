"""A verdict in plain lines: for a terminal, a log, a screen reader."""

from collections.abc import Collection, Iterator
from typing import Final

from reb_action.levels import spec_of
from reb_action.model.agent import AgentRun
from reb_action.model.manifest import Level, Outcome
from reb_action.model.verdict import Claim, LevelResult, Scoring, Standing, Verdict
from reb_action.render import outcomes
from reb_action.render.escape import clean, log
from reb_action.render.outcomes import DOUBTED, MARKS


def verdict_lines(verdict: Verdict, unqualified: Collection[Level] = ()) -> Iterator[str]:
    """Yield the verdict, level by level, then what the report claims beside what was seen."""
    yield f"{log(verdict.trial)}: {headline(verdict)}"
    for result in verdict.results:
        yield level_line(result, unqualified)
        yield from cause_lines(result)
    yield from doubt_lines(verdict, unqualified)
    yield from claim_lines(verdict)
    yield from remark_lines(verdict)


def remark_lines(verdict: Verdict) -> Iterator[str]:
    """Yield what the agent changed or left behind."""
    if verdict.touched:
        paths = ", ".join(one.path for one in verdict.touched)
        yield f"tracked files changed and restored: {log(paths)}"
    if verdict.copies:
        paths = ", ".join(verdict.copies)
        yield f"edited copies of the repository's modules, outside of it: {log(paths)}"
    if verdict.survivors:
        yield f"processes that the agent left: {log(', '.join(verdict.survivors))}"


def headline(verdict: Verdict, scoring: Scoring = Scoring.STRICT) -> str:
    """Return how many applicable levels passed, and whether the verdict is complete."""
    counted = [one for one in verdict.results if one.by(scoring) in _COUNTED]
    passed = sum(one.by(scoring) is Outcome.PASSED for one in counted)
    missing = [one.level for one in verdict.results if one.by(scoring) is Outcome.INVALID]
    told = f"{passed} of {len(counted)} levels passed"
    return f"{told}; not measured: {', '.join(missing)}" if missing else told


def short_lines(verdict: Verdict, notes: str | None) -> Iterator[str]:
    """Yield what the agent said and, below it, what was found."""
    yield f"{log(verdict.agent)} said:  {said(verdict, notes)}"
    yield f"{' ' * len(log(verdict.agent))} found: {found(verdict)}"


def said(verdict: Verdict, notes: str | None) -> str:
    """Return in one sentence what the agent said: its notes, else how much it claimed."""
    if verdict.report_fault is not None:
        return f"nothing that can be used: {verdict.report_fault.message}."
    if notes is not None and (quoted := clean(notes, limit=_QUOTED)):
        return f"\N{LEFT DOUBLE QUOTATION MARK}{quoted}\N{RIGHT DOUBLE QUOTATION MARK}"
    return f"nothing in its own words; it made {_count(len(_made(verdict)), 'claim')}."


def found(verdict: Verdict) -> str:
    """Return in one sentence what was found: what does not hold, or that everything does."""
    wrong = [*_reasons(verdict), *_contradicted(verdict)]
    missing = [one.level for one in verdict.results if one.outcome is Outcome.INVALID]
    unmeasured = (f"not measured: {', '.join(missing)}",) if missing else ()
    counted = any(one.outcome in _COUNTED for one in verdict.results)
    held = () if wrong or not counted else ("every level that was measured holds",)
    return f"{'; '.join((*held, *wrong, *unmeasured)) or 'no level applies'}."


def _reasons(verdict: Verdict) -> Iterator[str]:
    """Yield each reason why a level does not hold once, with the levels that share it."""
    of = [one for one in verdict.results if one.outcome in _WRONG]
    for reason in dict.fromkeys(one.reason for one in of if one.level is not Level.C5):
        levels = ", ".join(one.level for one in of if one.reason == reason)
        yield f"{clean(reason, limit=_QUOTED).rstrip('.')} ({levels})"


def _contradicted(verdict: Verdict) -> Iterator[str]:
    false = sum(not claim.under_claim for claim in verdict.audit.refuted)
    if false:
        yield f"{false} of {_count(len(_made(verdict)), 'claim')} contradicted (C5)"


def _made(verdict: Verdict) -> tuple[Claim, ...]:
    claims = verdict.audit.claims
    return tuple(claim for claim in claims if claim.standing is not Standing.NOT_MADE)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def agent_line(run: AgentRun) -> str:
    """Return in one line how an agent ended, and where what it said is."""
    detail = f"{log(run.detail)}; agent.log has what it said" if run.detail else "it left a report"
    return f"agent {run.ending}: {detail}"


def level_line(result: LevelResult, unqualified: Collection[Level] = ()) -> str:
    """Return one level in one line."""
    title = spec_of(result.level).title
    mark = f"{MARKS[result.outcome]}{doubt(result, unqualified)}"
    return f"{result.level} {title:16} {mark:8} {level_reason(result)}"


def doubt(result: LevelResult, unqualified: Collection[Level]) -> str:
    """Return what follows the outcome of a level: a mark where it is not qualified."""
    return outcomes.doubt(result.outcome, qualified=result.level not in unqualified)


def doubt_lines(verdict: Verdict, unqualified: Collection[Level]) -> Iterator[str]:
    """Yield what the mark means, where a level bears it."""
    if any(doubt(result, unqualified) for result in verdict.results):
        yield DOUBTED


def level_reason(result: LevelResult) -> str:
    """Return why a level has its outcome, and the paper's count of its imports."""
    count = result.imports
    if count is None or result.outcome not in (Outcome.PASSED, Outcome.FAILED):
        return log(result.reason)
    return f"{log(result.reason)} (paper: {count.missing} of {count.total} missing)"


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
    claimed = log(claim.claimed or "nothing")
    told = f"{claim.field} = {claimed}: {standing(claim)}"
    if claim.standing is Standing.REFUTED:
        return f"{told}, observed {log(claim.observed or 'nothing')}"
    return told


def standing(claim: Claim) -> str:
    """Return how a claim stands, in a word; what the report got wrong in capitals."""
    if claim.standing is Standing.REFUTED:
        return "UNDER-CLAIM" if claim.under_claim else "REFUTED"
    return claim.standing.replace("_", " ")


_WRONG: Final = (Outcome.FAILED, Outcome.BLOCKED)
_COUNTED: Final = (Outcome.PASSED, *_WRONG)
_QUOTED: Final = 160
