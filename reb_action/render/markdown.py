"""Verdicts as Markdown for a job summary; every text from outside passes `escape.markdown`."""

from collections.abc import Iterable, Iterator, Mapping

from reb_action.gate import Decision
from reb_action.levels import spec_of
from reb_action.model.manifest import Level, Outcome
from reb_action.model.verdict import Standing, Verdict
from reb_action.render.escape import markdown
from reb_action.render.text import MARKS, headline


def trial_summary(seen: Verdict | str, decision: Decision) -> str:
    """Return the summary of one trial, or of the reason why it has no verdict."""
    lines = _unjudged(seen) if isinstance(seen, str) else _judged(seen)
    closed = (
        () if decision.closed is None else (f"The gate is closed: {markdown(decision.closed)}",)
    )
    return _text((*lines, *closed))


def collection_summary(
    verdicts: Mapping[str, Verdict | str], levels: tuple[Level, ...], decision: str | None
) -> str:
    """Return the summary of all planned trials: one row each, then what has to run again."""
    complete = {name: seen for name, seen in verdicts.items() if isinstance(seen, Verdict)}
    missing = {name: seen for name, seen in verdicts.items() if isinstance(seen, str)}
    lines = [
        "## researchenvbench",
        f"{len(complete)} of {len(verdicts)} planned trials have a verdict."
        + (" This comparison is incomplete." if missing else ""),
        "\n".join(_grid(complete, levels)),
    ]
    if missing:
        rows = (f"| {markdown(name)} | {markdown(why)} |" for name, why in missing.items())
        lines += ["### To run again", "\n".join(("| trial | why |", "|---|---|", *rows))]
    if decision is not None:
        lines.append(f"The gate is closed: {markdown(decision)}")
    return _text(lines)


def _unjudged(reason: str) -> Iterator[str]:
    yield "## researchenvbench"
    yield f"There is no verdict: {markdown(reason)}"
    yield "Run this trial again."


def _judged(verdict: Verdict) -> Iterator[str]:
    yield f"## {markdown(verdict.trial)}"
    yield f"{headline(verdict)}."
    yield "\n".join(_levels(verdict))
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


def _levels(verdict: Verdict) -> Iterator[str]:
    yield "| level | question | outcome | why |"
    yield "|---|---|---|---|"
    for result in verdict.results:
        title = spec_of(result.level).title
        mark = MARKS[result.outcome]
        yield f"| {result.level} | {title} | {mark} | {markdown(result.reason)} |"


def _refuted(verdict: Verdict) -> Iterator[str]:
    false = [claim for claim in verdict.audit.claims if claim.standing is Standing.REFUTED]
    if false:
        rows = (
            f"| {markdown(one.field)} | {markdown(one.claimed or 'nothing')}"
            f" | {markdown(one.observed or 'nothing')} |"
            for one in false
        )
        yield "\n".join(("| claim | claimed | observed |", "|---|---|---|", *rows))


def _grid(verdicts: Mapping[str, Verdict], levels: tuple[Level, ...]) -> Iterator[str]:
    yield f"| trial | {' | '.join(levels)} |"
    yield f"|---|{'---|' * len(levels)}"
    for name, verdict in verdicts.items():
        marks = (MARKS[verdict.result(level).outcome] for level in levels)
        yield f"| {markdown(name)} | {' | '.join(marks)} |"
    yield f"| **passed of counted** | {' | '.join(_shares(verdicts.values(), levels))} |"


def _shares(verdicts: Iterable[Verdict], levels: tuple[Level, ...]) -> Iterator[str]:
    found = tuple(verdicts)
    for level in levels:
        outcomes = [verdict.result(level).outcome for verdict in found]
        uncounted = (Outcome.NOT_APPLICABLE, Outcome.INVALID)
        counted = sum(outcome not in uncounted for outcome in outcomes)
        yield f"{outcomes.count(Outcome.PASSED)}/{counted}"


def _text(blocks: Iterable[str]) -> str:
    return "\n\n".join(blocks) + "\n"
