"""Verdicts as Markdown for a job summary; every text from outside passes `escape.markdown`."""

from collections.abc import Collection, Iterable, Iterator

from reb_action.gate import Decision
from reb_action.levels import spec_of
from reb_action.model.manifest import Level
from reb_action.model.verdict import Scoring, Standing, Verdict
from reb_action.render.escape import markdown
from reb_action.render.lines import doubt, doubt_lines, headline
from reb_action.render.outcomes import MARKS


def trial_summary(
    seen: Verdict | str, decision: Decision, *, unqualified: Collection[Level] = ()
) -> str:
    """Return the summary of one trial, or of the reason why it has no verdict."""
    scoring = decision.scoring
    lines = _unjudged(seen) if isinstance(seen, str) else _judged(seen, scoring, unqualified)
    closed = (
        () if decision.closed is None else (f"The gate is closed: {markdown(decision.closed)}",)
    )
    return _text((*lines, *closed))


def _unjudged(reason: str) -> Iterator[str]:
    yield "## researchenvbench"
    yield f"There is no verdict: {markdown(reason)}"
    yield "Run this trial again."


def _judged(verdict: Verdict, scoring: Scoring, unqualified: Collection[Level]) -> Iterator[str]:
    yield f"## {markdown(verdict.trial)}"
    one, other = _in_order(scoring)
    yield f"{headline(verdict, one)} ({one} scoring)."
    yield f"By the {other} scoring: {headline(verdict, other)}."
    yield "\n".join(_levels(verdict, unqualified))
    yield from doubt_lines(verdict, unqualified)
    run = verdict.agent_run
    if run is None:
        yield "The agent did not run to its end."
    else:
        version = markdown(run.version)
        yield f"Agent {markdown(run.agent)} {version}: {run.ending} after {run.seconds:.0f} s."
    yield from _refuted(verdict)
    if verdict.touched:
        names = ", ".join(markdown(one.path) for one in verdict.touched[:20])
        yield f"Tracked files changed and restored ({len(verdict.touched)}): {names}"
    if verdict.copies:
        names = ", ".join(markdown(one) for one in verdict.copies[:20])
        yield f"Edited copies of modules, outside of the checkout ({len(verdict.copies)}): {names}"


def _levels(verdict: Verdict, unqualified: Collection[Level]) -> Iterator[str]:
    yield "| level | question | strict | paper | why |"
    yield "|---|---|---|---|---|"
    for result in verdict.results:
        title = spec_of(result.level).title
        mark = doubt(result, unqualified)
        marks = f"{MARKS[result.outcome]}{mark} | {MARKS[result.paper]}{mark}"
        yield f"| {result.level} | {title} | {marks} | {markdown(result.reason)} |"


def _refuted(verdict: Verdict) -> Iterator[str]:
    false = [claim for claim in verdict.audit.claims if claim.standing is Standing.REFUTED]
    if false:
        rows = (
            f"| {markdown(one.field)} | {markdown(one.claimed or 'nothing')}"
            f" | {markdown(one.observed or 'nothing')} |"
            for one in false
        )
        yield "\n".join(("| claim | claimed | observed |", "|---|---|---|", *rows))


def _in_order(first: Scoring) -> tuple[Scoring, Scoring]:
    other = Scoring.PAPER if first is Scoring.STRICT else Scoring.STRICT
    return first, other


def _text(blocks: Iterable[str]) -> str:
    return "\n\n".join(blocks) + "\n"
