"""Finds what a run is compared with: the leaderboard, a tag of it, another run, or a place."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from reb_action.errors import GitHubError, UsageError
from reb_action.github import event
from reb_action.github.api.client import Client
from reb_action.judge.gate import FailOn
from reb_action.model.comparison import ContestantComparison, Regression
from reb_action.model.manifest import contestant_of
from reb_action.model.plan import Plan
from reb_action.model.quantity import count
from reb_action.model.scoreboard import Scoreboard
from reb_action.model.verdict import Verdict
from reb_action.publish import leaderboard, run
from reb_action.publish.board_state import Leaderboard
from reb_action.publish.content import RunResults
from reb_action.publish.leaderboard import Base
from reb_action.publish.options import PublishOptions
from reb_action.render.lines import why_message
from reb_action.render.markdown.changes import list_tested
from reb_action.render.markdown.failures import explain_row
from reb_action.render.markdown.run_report import BaseComparison, RunReport
from reb_action.results.comparison import read_place
from reb_action.score.base import CellChange, compare_with_base, find_failed, list_broken
from reb_action.workflow.sequential import Outlook, Rule, make_rule

_TAG: Final = re.compile(r"tag:([\w.][\w./-]{0,199})", re.ASCII)
_RUN: Final = re.compile(r"run:(\d{1,20})")
_SHOWN: Final = 3
"""Broken cells that a message names."""
NO_BOARD: Final = "there is no leaderboard yet"


def compare_run(
    options: PublishOptions,
    board: Leaderboard,
    client: Client,
    results: RunResults,
    fail_on: FailOn,
) -> BaseComparison:
    """Return a run against its base, or why there is nothing to compare with.

    `options.base` is empty for the leaderboard, `tag:NAME` for a tag of it, `run:ID` for another
    run, or a path of artifacts, a board or a scoreboard.json. Raises GitHubError, DocumentError,
    UsageError.
    """
    found = find_base(options, board, client, results)
    if found is None:
        return BaseComparison()
    if isinstance(found, str):
        return BaseComparison(why=found)
    contestants = compare_with_base(
        found.board, results.board, levels=results.levels, scoring=fail_on.scoring
    )
    return BaseComparison(
        commit=found.commit,
        url=found.url,
        contestants=contestants,
        unsettled=_find_unsettled(found.board, results, fail_on),
    )


def explain_regression(report: RunReport) -> str | None:
    """Return why `fail-on` regression or broken fails a run, with the evidence, or None.

    Without a base a run fails: a missing comparison is not a pass.
    """
    rule = report.fail_on.regression
    if rule is None:
        return None
    tested = {score.name for score in list_tested(report)}
    compared = [one for one in report.base.contestants if one.b in tested]
    absent = sorted(tested - {one.b for one in compared})
    reasons = [report.base.unsettled] if report.base.unsettled else []
    reasons += [text for one in compared if (text := _explain_contestant(report, one)) is not None]
    if absent:
        why = report.base.why or "the base has no results of it"
        reasons.append(f"nothing to compare {', '.join(absent)} with: {why}")
    return "; ".join(reasons) or None


def _find_unsettled(base: Scoreboard, results: RunResults, fail_on: FailOn) -> str:
    """Return why a run that ended early has no answer, "" if it has one.

    Each job has its own base, and the leaderboard may have moved since.
    """
    stop = results.collected.stop
    if stop is None or fail_on.regression is None:
        return ""
    outlook = make_outlook(base, results.plan, make_rule(fail_on, results.levels))
    for name, judged in results.collected.found.items():
        if isinstance(judged, Verdict):
            outlook.record(name, judged)
    if outlook.answer() is not None:
        return ""
    return (
        f"{count(len(stop.skipped), 'left-out trial')} could change the answer against this base;"
        " run again without sequential"
    )


def make_outlook(base: Scoreboard, plan: Plan, rule: Rule) -> Outlook:
    """Return what the trials of a plan can change."""
    models = {one.contestant.id: one.model for one in plan.contestants}
    # Plans of older releases name no contestants.
    every = models or dict.fromkeys(contestant_of(trial.id) for trial in plan.trials)
    tested = [name for name, model in models.items() if model is not None] or list(every)
    return Outlook(base, [trial.id for trial in plan.trials], tested, rule)


def find_base(
    options: PublishOptions, board: Leaderboard, client: Client, results: RunResults
) -> Base | str | None:
    """Return the base of a run, a text why its records may not be compared, or None without one.

    Raises GitHubError, DocumentError, UsageError.
    """
    place = options.base
    if not place:
        return leaderboard.read_base(board, results)
    if (tag := _TAG.fullmatch(place)) is not None:
        url = f"{board.url.rpartition('/tree/')[0]}/tree/{tag[1]}"
        tagged = replace(board, branch=f"refs/tags/{tag[1]}", url=url)
        missing = f"there is no tag {tag[1]!r} with a leaderboard"
        return leaderboard.read_base(tagged, results) or missing
    if (match := _RUN.fullmatch(place)) is not None:
        return _read_run(int(match[1]), options, board, client, results)
    path = Path(place)
    if not path.exists():
        raise UsageError(f"--base is {place!r}; use a path, tag:NAME, run:ID, or leave it empty")
    return Base(board=read_place(path), commit=path.name, url=results.occasion.url)


def _read_run(
    run_id: int,
    options: PublishOptions,
    board: Leaderboard,
    client: Client,
    results: RunResults,
) -> Base:
    if run_id == results.occasion.run.run_id:
        raise UsageError(f"--base is run {run_id} itself; name an earlier run")
    repository = board.url.partition("/tree/")[0].rpartition("/")
    name = f"{repository[0].rpartition('/')[2]}/{repository[2]}"
    occasion = event.read_other_run(client, run_id, repository=name)
    if occasion.fork:
        raise GitHubError(f"run {run_id} is from a fork; its unverified results cannot be a base")
    folder = board.git_dir.parent / "base"
    found, _ = run.read_other_run(client, occasion, folder, key=options.key)
    base = _demand_trials(found.board, run_id)
    return Base(board=base, commit=occasion.commit, url=occasion.url)


def _demand_trials(board: Scoreboard, run_id: int) -> Scoreboard:
    if not board.trials:
        raise GitHubError(f"run {run_id} has no trial with a verdict; name another base")
    return board


def _explain_contestant(report: RunReport, one: ContestantComparison) -> str | None:
    levels = sorted(find_failed(report.fail_on.regression, one))
    if not levels:
        return None
    counts = (
        f"{of.level} {of.a:.0%} to {of.b:.0%}"
        + (f" (p = {of.adjusted:.2g})" if of.adjusted is not None else "")
        for of in one.levels
        if of.level in levels
    )
    broken = [change for change in list_broken(one) if change.level in levels]
    cells = "; ".join(_explain_cells(report, broken[:_SHOWN]))
    more = f" (and {len(broken) - _SHOWN} more)" if len(broken) > _SHOWN else ""
    word = "worse than the base" if report.fail_on.regression is Regression.SHOWN else "broken"
    return f"{one.b}: {word}: {', '.join(counts)}; {cells}{more}".removesuffix("; ")


def _explain_cells(report: RunReport, changes: Sequence[CellChange]) -> list[str]:
    told: list[str] = []
    for change in changes:
        rows = (
            row
            for row in report.board.trials
            if (row.name, row.repository) == (change.contestant, change.repository)
        )
        why = [
            why_message(explanation, report.find_evidence(row.trial))
            for row in rows
            for explanation in explain_row(report, row, (change.level,))
        ]
        told.append(f"{change.repository} {why[0] if why else change.level}")
    return told
