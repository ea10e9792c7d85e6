"""Ends a trial on a runner: judges its files again, decides, writes the outputs and the summary."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from reb_action import documents
from reb_action.corpus import qualification
from reb_action.errors import RebError
from reb_action.github.commands import write_outputs, write_summary
from reb_action.github.context import Context
from reb_action.judge import gate
from reb_action.judge.documented import list_changed_packages
from reb_action.judge.gate import Decision, FailOn
from reb_action.model.manifest import RUN_LEVELS, Level
from reb_action.model.verdict import Scoring, SetupAnswer, Verdict
from reb_action.render.lines import why_message
from reb_action.render.markdown.verdict import Evidence, trial_summary
from reb_action.render.why import list_explanations
from reb_action.session import state
from reb_action.session.evidence import excerpt
from reb_action.session.layout import SessionLayout
from reb_action.session.verdict import judged

_CHANGED: Final = 10


def conclude_trial(
    layout: SessionLayout, fail_on: FailOn, context: Context, *, last_pass: Path | None = None
) -> Decision:
    """Decide whether the trial of a folder passes, and write the runner's outputs and summary.

    `last_pass` is the folder of an earlier trial of the agent documented: packages whose versions
    have changed since are named; a folder that does not exist is none.
    """
    result = judged(layout)
    decision = gate.decide(result, _requested_levels(layout), fail_on)
    changed = _name_changes(result, last_pass)
    if decision.closed is not None and changed is not None:
        decision = replace(decision, closed=f"{decision.closed}; {changed}")
    summary = layout.folder / "summary.md"
    shown = Evidence(link=context.artifacts_url, logs=dict(_read_logs(layout)))
    text = trial_summary(result, decision, unqualified=_unqualified(layout), evidence=shown)
    write_summary(context, text)
    if layout.session.is_file():
        documents.write_bytes(summary, text.encode())
    write_outputs(context, _outputs(layout, result, decision, summary))
    return decision


def _name_changes(result: Verdict | str, last_pass: Path | None) -> str | None:
    """Return the packages that changed since an earlier trial, in one clause, or None."""
    if last_pass is None or isinstance(result, str) or result.setup is None:
        return None
    earlier = SessionLayout(folder=last_pass).verdict
    if not earlier.is_file():
        return None
    before = documents.read(earlier, Verdict, kind="verdict").setup
    if before is None or before.answer is not SetupAnswer.WORKS:
        return None
    changed = list_changed_packages(before.packages, result.setup.packages)
    shown = ", ".join(changed[:_CHANGED]) or "none"
    more = f" and {len(changed) - _CHANGED} more" if len(changed) > _CHANGED else ""
    return f"packages that changed since the last pass: {shown}{more}"


def explain_trial(
    layout: SessionLayout, scoring: Scoring, context: Context
) -> tuple[str, tuple[str, ...]]:
    """Return the name of a trial, and a line for each level that did not pass: why."""
    result = judged(layout)
    if isinstance(result, str):
        return layout.folder.name, (result,)
    explanations = list_explanations(result, scoring)
    link = context.artifacts_url
    return result.trial, tuple(why_message(explanation, link) for explanation in explanations)


def _read_logs(layout: SessionLayout) -> Iterator[tuple[str, str]]:
    for path in (*(layout.log(level) for level in RUN_LEVELS), layout.agent_log):
        if path.is_file():
            yield path.relative_to(layout.folder).as_posix(), excerpt(path)


def _requested_levels(layout: SessionLayout) -> tuple[Level, ...]:
    try:
        return state.load(layout).levels
    except RebError:
        return tuple(Level)


def _unqualified(layout: SessionLayout) -> frozenset[Level]:
    try:
        return qualification.unqualified(state.load(layout).trial.manifest)
    except RebError:
        return frozenset()


def _outputs(
    layout: SessionLayout, result: Verdict | str, decision: Decision, summary: Path
) -> dict[str, str]:
    run = result.agent_run if isinstance(result, Verdict) else None
    return {
        "outcome": decision.standing,
        "highest-level": decision.highest or "none",
        "trial": result.trial if isinstance(result, Verdict) else "",
        "agent-ending": run.ending if run else "",
        "folder": str(layout.folder),
        "verdict": _path(layout.verdict),
        "page": _path(layout.page),
        "summary": _path(summary),
    }


def _path(path: Path) -> str:
    return str(path) if path.is_file() else ""
