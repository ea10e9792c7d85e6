"""Computes the check runs, comments and pushes for a finished run; sends nothing."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, assert_never

from reb_action.judge.gate import FailOn
from reb_action.model.event import Occasion
from reb_action.model.github import CheckRun, Comment
from reb_action.model.manifest import Level
from reb_action.model.plan import Plan, PlannedTrial
from reb_action.model.scoreboard import Scoreboard
from reb_action.publish.options import ChecksMode, CommentMode, PublishOptions
from reb_action.render.markdown.checks import level_checks, trial_checks
from reb_action.render.markdown.comment import write_comment
from reb_action.render.markdown.run_report import BaseComparison, RunReport
from reb_action.render.markdown.sections import is_fine
from reb_action.results.collection import Collected
from reb_action.score.base import has_changes
from reb_action.session import state

TRIAL_CHECKS: Final = 50
"""Above this many trials, checks are written by level: GitHub allows 80 writes a minute."""
_RELEASING: Final = ("push", "schedule", "workflow_dispatch")
_FILE: Final = re.compile(r"(?:\./)?((?:[\w-][\w.-]*/)*[\w-][\w.-]*\.ya?ml)")


@dataclass(frozen=True, kw_only=True, slots=True)
class RunResults:
    """The results of a run and the event that started it.

    `evidence` maps a trial to the URL of its artifact, as far as it is known.
    """

    occasion: Occasion
    plan: Plan
    collected: Collected
    board: Scoreboard
    levels: tuple[Level, ...]
    evidence: Mapping[str, str] = field(default_factory=dict[str, str])


def make_report(
    run: RunResults, options: PublishOptions, fail_on: FailOn, base: BaseComparison
) -> RunReport:
    """Return the report that check runs and comments are rendered from."""
    return RunReport(
        key=options.key,
        board=run.board,
        levels=run.levels,
        fail_on=fail_on,
        commit=run.occasion.commit,
        run=run.occasion.run,
        run_url=run.occasion.url,
        unverified=run.occasion.fork,
        base=base,
        evidence=run.evidence,
        stop=run.collected.stop,
        own_repository=_measures_own(run),
        files={
            trial.id: path for trial in run.plan.trials if (path := find_file(trial)) is not None
        },
    )


def find_file(trial: PlannedTrial) -> str | None:
    """Return the file of the caller's repository that describes a trial: manifest, else agent."""
    matches = (_FILE.fullmatch(name) for name in (trial.repository, trial.agent))
    return next((match[1] for match in matches if match is not None), None)


def make_checks(report: RunReport, mode: ChecksMode) -> tuple[CheckRun, ...]:
    """Return the check runs; by level if there are too many trials."""
    match mode:
        case ChecksMode.OFF:
            return ()
        case ChecksMode.TRIALS if report.planned <= TRIAL_CHECKS:
            return trial_checks(report)
        case ChecksMode.TRIALS | ChecksMode.LEVELS:
            return level_checks(report)
        case _:
            assert_never(mode)


def make_comments(report: RunReport, mode: CommentMode, occasion: Occasion) -> tuple[Comment, ...]:
    """Return the comment for each pull request."""
    if mode is CommentMode.OFF or not occasion.pull_requests:
        return ()
    create, body = _creates_comment(report, mode), write_comment(report)
    return tuple(
        Comment(
            number=number,
            key=report.key,
            order=report.run,
            body=body,
            create=create,
            workflow=occasion.workflow,
        )
        for number in occasion.pull_requests
    )


def leaderboard_refusal(occasion: Occasion, default_branch: str) -> str | None:
    """Return why a run must not write the leaderboard, or None for runs of the default branch."""
    if occasion.fork:
        return "runs of a fork are not published on the leaderboard"
    if occasion.event not in _RELEASING or occasion.branch != default_branch:
        return (
            f"only {', '.join(_RELEASING)} of {default_branch!r} update it; this run is"
            f" {occasion.event} of {occasion.branch!r}"
        )
    return None


def _measures_own(run: RunResults) -> bool:
    """Return whether a run has one repository only, and measures it at its own checkout."""
    names = {trial.id.rsplit(".", 2)[0] for trial in run.plan.trials}
    layouts = (run.collected.places[row.trial] for row in run.board.trials)
    return len(names) == 1 and any(
        state.load(layout).trial.manifest.follows_checkout for layout in layouts
    )


def _creates_comment(report: RunReport, mode: CommentMode) -> bool:
    """Return whether to create a missing comment; without a base, everything is a change."""
    match mode:
        case CommentMode.OFF:
            return False
        case CommentMode.ALWAYS:
            return True
        case CommentMode.CHANGES:
            return not report.base.contestants or has_changes(report.base.contestants)
        case CommentMode.FAILURES:
            fine = all(is_fine(report, row) for row in report.board.trials)
            return not (fine and report.board.complete)
        case _:
            assert_never(mode)
