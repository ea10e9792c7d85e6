"""A verdict in plain lines, for a log, a pipe and a screen reader."""

from collections.abc import Collection, Iterator
from typing import Final

from reb_action.judge.levels import spec_of
from reb_action.model.agent import AgentRun
from reb_action.model.manifest import Level, Outcome
from reb_action.model.quantity import count
from reb_action.model.verdict import Claim, LevelResult, Scoring, Standing, Verdict
from reb_action.render.escape import clean, log
from reb_action.render.outcomes import UNQUALIFIED_NOTE, mark_outcome
from reb_action.render.quantities import clock
from reb_action.render.remarks import list_remarks
from reb_action.render.why import (
    NOT_ASKED,
    Explanation,
    Link,
    Part,
    Quoted,
    explain_result,
    list_explanations,
    list_parts,
    outcome_word,
)


def verdict_lines(verdict: Verdict, unqualified: Collection[Level] = ()) -> Iterator[str]:
    """Yield the verdict: the headline, the levels, the claims, and what else to know."""
    yield f"{log(verdict.trial)}: {count_levels(verdict)}"
    explanations = list_explanations(verdict, Scoring.STRICT)
    why = {explanation.levels[0]: _part_lines(explanation) for explanation in explanations}
    for result in verdict.results:
        yield level_line(result, unqualified)
        yield from why.get(result.level, ())
    yield from mark_lines(verdict, unqualified)
    yield from claim_lines(verdict)
    yield from remark_lines(verdict)


def count_levels(verdict: Verdict, scoring: Scoring = Scoring.STRICT) -> str:
    """Return how many applicable levels passed, and which were not measured or not asked."""
    counted = [result for result in verdict.results if result.by(scoring) in _COUNTED]
    passed = sum(result.by(scoring) is Outcome.PASSED for result in counted)
    return "; ".join(
        (f"{passed} of {count(len(counted), 'level')} passed", *_gaps(verdict, scoring))
    )


def short_lines(verdict: Verdict, notes: str | None) -> Iterator[str]:
    """Yield what the agent said and, below it, what the probes found."""
    agent = log(verdict.agent)
    yield f"{agent} said:  {quote_agent(verdict, notes)}"
    yield f"{' ' * len(agent)} found: {summarise_findings(verdict)}"


def quote_agent(verdict: Verdict, notes: str | None) -> str:
    """Return in one sentence what the agent said: its notes, else the number of its claims."""
    if verdict.report_fault is not None:
        return f"no usable report: {verdict.report_fault.message}."
    if notes is not None and (quoted := clean(notes, limit=_QUOTED)):
        return f"\N{LEFT DOUBLE QUOTATION MARK}{quoted}\N{RIGHT DOUBLE QUOTATION MARK}"
    return f"no notes; it made {count(_count_claims(verdict), 'claim')}."


def summarise_findings(verdict: Verdict) -> str:
    """Return in one sentence what failed, or that every measured level passed."""
    faults = [*_reasons(verdict), *_contradictions(verdict)]
    counted = any(result.outcome in _COUNTED for result in verdict.results)
    passed = () if faults or not counted else ("every measured level passed",)
    return (
        f"{'; '.join((*passed, *faults, *_gaps(verdict, Scoring.STRICT))) or 'no level applies'}."
    )


def stamp_line(text: str, seconds: float) -> str:
    """Return a line of progress after the time since the start."""
    return f"[{clock(seconds)}] {log(text)}"


def agent_line(run: AgentRun) -> str:
    """Return in one line how an agent ended."""
    detail = f"{log(run.detail)}; see agent.log" if run.detail else "it left a report"
    return f"agent {run.ending}: {detail}"


def level_line(result: LevelResult, unqualified: Collection[Level] = ()) -> str:
    """Return one level in one line."""
    title = spec_of(result.level).title
    word = f"{outcome_word(result, Scoring.STRICT)}{mark_level(result, unqualified)}"
    return f"{result.level} {title:16} {word:9} {level_reason(result)}"


def mark_level(result: LevelResult, unqualified: Collection[Level]) -> str:
    """Return the mark after the outcome of a level; one that was not requested has none."""
    if result.unasked:
        return ""
    return mark_outcome(result.outcome, qualified=result.level not in unqualified)


def mark_lines(verdict: Verdict, unqualified: Collection[Level]) -> Iterator[str]:
    """Yield the meaning of the mark, if a level bears it."""
    if any(mark_level(result, unqualified) for result in verdict.results):
        yield UNQUALIFIED_NOTE


def level_reason(result: LevelResult) -> str:
    """Return why a level has its outcome, and the paper's count of its imports, if there is one."""
    imports = result.imports
    if (
        imports is None
        or not imports.of_paper
        or result.outcome not in (Outcome.PASSED, Outcome.FAILED)
    ):
        return log(result.reason)
    return f"{log(result.reason)} (paper: {imports.missing} of {imports.total} missing)"


def why_lines(
    result: LevelResult, *, scoring: Scoring = Scoring.STRICT, link: str = ""
) -> Iterator[str]:
    """Return lines on why a level did not pass: cause, line of the log, remedy, evidence."""
    explanation = explain_result(result, scoring)
    return iter(()) if explanation is None else _part_lines(explanation, link)


def _part_lines(explanation: Explanation, link: str = "") -> Iterator[str]:
    for label, part in list_parts(explanation, link):
        yield f"   {label}: {_show(part)}"


def why_message(explanation: Explanation, link: str = "") -> str:
    """Return a level that did not pass in one line: outcome, reason, and all that explains it."""
    parts = (f"{label}: {_show(part)}".rstrip(".") for label, part in list_parts(explanation, link))
    head = f"{explanation.title}: {log(explanation.reason)}".rstrip(".")
    return "; ".join((head, *parts))


def claim_lines(verdict: Verdict) -> Iterator[str]:
    """Yield each claim of the report with its standing, then the claims that were not made."""
    for claim in verdict.audit.claims:
        if claim.standing is not Standing.NOT_MADE:
            yield f"claim {_claim(claim)}"
    absent = [claim.field for claim in verdict.audit.claims if claim.standing is Standing.NOT_MADE]
    if absent:
        yield f"claims not made: {', '.join(absent)}"


def standing_word(claim: Claim) -> str:
    """Return the standing of a claim in a word; a contradicted claim in capitals."""
    if claim.standing is Standing.REFUTED:
        return "UNDER-CLAIM" if claim.under_claim else "REFUTED"
    return claim.standing.replace("_", " ")


def remark_lines(verdict: Verdict) -> Iterator[str]:
    """Yield what the agent changed or left behind."""
    for remark in list_remarks(verdict):
        yield f"{remark.label} ({len(remark.items)}): {log(', '.join(remark.items))}"


def _show(part: Part) -> str:
    match part:
        case Quoted():
            return log(part.text)
        case Link():
            return f"{part.text} {part.url}"
        case str():
            return part


def _gaps(verdict: Verdict, scoring: Scoring) -> Iterator[str]:
    """Yield the levels that could not be measured, and those that were not requested."""
    invalid = [one for one in verdict.results if one.by(scoring) is Outcome.INVALID]
    for label, unasked in (("not measured", False), (NOT_ASKED, True)):
        levels = [one.level for one in invalid if one.unasked is unasked]
        if levels:
            yield f"{label}: {', '.join(levels)}"


def _reasons(verdict: Verdict) -> Iterator[str]:
    """Yield each reason of a failure once, with the levels that share it."""
    failed = [result for result in verdict.results if result.outcome in _FAILED]
    for reason in dict.fromkeys(result.reason for result in failed if result.level is not Level.C5):
        levels = ", ".join(result.level for result in failed if result.reason == reason)
        yield f"{clean(reason, limit=_QUOTED).rstrip('.')} ({levels})"


def _contradictions(verdict: Verdict) -> Iterator[str]:
    contradicted = sum(not claim.under_claim for claim in verdict.audit.refuted)
    if contradicted:
        yield f"{contradicted} of {count(_count_claims(verdict), 'claim')} contradicted (C5)"


def _count_claims(verdict: Verdict) -> int:
    return sum(claim.standing is not Standing.NOT_MADE for claim in verdict.audit.claims)


def _claim(claim: Claim) -> str:
    text = f"{claim.field} = {log(claim.claimed or 'none')}: {standing_word(claim)}"
    if claim.standing is Standing.REFUTED:
        return f"{text}, observed {log(claim.observed or 'none')}"
    if claim.hallucinations:
        return f"{text}, counted by the paper: {log(claim.observed or 'none')}"
    return text


_FAILED: Final = (Outcome.FAILED, Outcome.BLOCKED)
_COUNTED: Final = (Outcome.PASSED, *_FAILED)
_QUOTED: Final = 160
