"""A verdict as Markdown for a job summary; all text from outside passes `escape.markdown`."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from reb_action.judge.gate import Decision
from reb_action.judge.levels import spec_of
from reb_action.model.manifest import Level
from reb_action.model.verdict import Claim, Scoring, Standing, Verdict
from reb_action.render.escape import markdown
from reb_action.render.lines import count_levels, mark_level, mark_lines
from reb_action.render.markdown.sections import table
from reb_action.render.markdown.why import log_ends, why_items
from reb_action.render.remarks import list_remarks
from reb_action.render.tables import other
from reb_action.render.why import list_explanations, outcome_word

_ITEMS: Final = 20
"""The most items of a remark; verdict.json has them all."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """Where the trial's folder can be downloaded, or "", and its logs by their path there."""

    link: str = ""
    logs: Mapping[str, str] = field(default_factory=dict[str, str])


def trial_summary(
    verdict: Verdict | str,
    decision: Decision,
    *,
    unqualified: Collection[Level] = (),
    evidence: Evidence | None = None,
) -> str:
    """Return the summary of one trial, or of the reason why it has no verdict."""
    if isinstance(verdict, str):
        blocks = _without_verdict(verdict)
    else:
        blocks = _blocks(verdict, decision.scoring, unqualified, evidence or Evidence())
    closed = decision.closed
    failed = () if closed is None else (f"Failed by `fail-on`: {markdown(closed)}",)
    return "\n\n".join((*blocks, *failed)) + "\n"


def _without_verdict(reason: str) -> Iterator[str]:
    yield "## researchenvbench"
    yield f"There is no verdict: {markdown(reason)}"
    yield "Run this trial again."


def _blocks(
    verdict: Verdict, scoring: Scoring, unqualified: Collection[Level], evidence: Evidence
) -> Iterator[str]:
    yield f"## {markdown(verdict.trial)}"
    yield f"{count_levels(verdict, scoring)} ({scoring} scoring)."
    yield f"By the {other(scoring)} scoring: {count_levels(verdict, other(scoring))}."
    yield table(_levels(verdict, unqualified))
    yield from mark_lines(verdict, unqualified)
    explanations = list_explanations(verdict, scoring)
    if explanations:
        yield f"### What did not pass, and why\n\n{why_items(explanations, evidence.link)}"
        shown = {explanation.evidence for explanation in explanations}
        yield from log_ends({path: text for path, text in evidence.logs.items() if path in shown})
    yield _agent(verdict)
    contradicted = _contradicted(verdict)
    if contradicted:
        yield table(_claims(contradicted))
    for remark in list_remarks(verdict):
        items = ", ".join(map(markdown, remark.items[:_ITEMS]))
        yield f"{remark.label} ({len(remark.items)}): {items}"


def _agent(verdict: Verdict) -> str:
    run = verdict.agent_run
    if run is None:
        return "The agent did not finish."
    name = f"{markdown(run.agent)} {markdown(run.version)}"
    return f"Agent {name}: {run.ending} after {run.seconds:.0f} s."


def _levels(verdict: Verdict, unqualified: Collection[Level]) -> Iterator[tuple[str, ...]]:
    yield ("level", "question", "strict", "paper", "reason")
    for result in verdict.results:
        mark = mark_level(result, unqualified)
        outcomes = (f"{outcome_word(result, scoring)}{mark}" for scoring in Scoring)
        title = spec_of(result.level).title
        yield (result.level, title, *outcomes, markdown(result.reason))


def _contradicted(verdict: Verdict) -> tuple[Claim, ...]:
    """Return the claims that one of the two scorings counts as false."""
    claims = verdict.audit.claims
    return tuple(
        claim for claim in claims if claim.standing is Standing.REFUTED or claim.hallucinations
    )


def _claims(claims: Collection[Claim]) -> Iterator[tuple[str, ...]]:
    yield ("claim", "reported", "observed")
    for claim in claims:
        reported, observed = markdown(claim.claimed or "none"), markdown(claim.observed or "none")
        yield (markdown(claim.field), reported, observed)
