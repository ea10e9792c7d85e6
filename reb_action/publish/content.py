"""Computes the check runs, comments and pushes for a finished run; sends nothing."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, assert_never

from reb_action.judge.gate import FailOn
from reb_action.model.event import Occasion
from reb_action.model.github import CheckRun, Comment, Push
from reb_action.model.manifest import Level
from reb_action.model.plan import Plan, PlannedTrial
from reb_action.model.scoreboard import Scoreboard, TrialRow
from reb_action.model.verdict import Verdict
from reb_action.publish.options import ChecksMode, CommentMode, PublishOptions
from reb_action.render.html import site
from reb_action.render.markdown.checks import level_checks, trial_checks
from reb_action.render.markdown.comment import write_comment
from reb_action.render.markdown.run_report import Comparison, RunReport
from reb_action.render.markdown.sections import FINE, is_fine
from reb_action.results import page as results_page
from reb_action.results.collection import Collected
from reb_action.score import changes

TRIAL_CHECKS: Final = 50
"""Above this many trials, checks are written by level: GitHub allows 80 writes a minute."""
PAGES_BYTES: Final = 9_000_000
"""Limit on the trial pages of a pushed leaderboard: with the rest, two requests suffice."""
COMMIT: Final = "commit.txt"
"""File next to the scoreboard with the commit that was measured."""
_RELEASING: Final = ("push", "schedule", "workflow_dispatch")
_FILE: Final = re.compile(r"(?:\./)?((?:[\w-][\w.-]*/)*[\w-][\w.-]*\.ya?ml)")


@dataclass(frozen=True, kw_only=True, slots=True)
class RunResults:
    """The results of a run and the event that started it."""

    occasion: Occasion
    plan: Plan
    collected: Collected
    board: Scoreboard
    levels: tuple[Level, ...]


def make_report(
    run: RunResults, options: PublishOptions, fail_on: FailOn, comparison: Comparison | None
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
        comparison=comparison,
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
        Comment(number=number, key=report.key, order=report.run, body=body, create=create)
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


def make_leaderboard_push(run: RunResults, options: PublishOptions) -> Push:
    """Return the push with all files of the leaderboard's branch."""
    pages = dict(_pages(run))
    files = (*site.front_files(run.board, pages), *pages.values())
    return Push(
        branch=options.branch,
        folder="",
        files={**dict(files), COMMIT: f"{run.occasion.commit}\n".encode()},
        message=f"Leaderboard of run {run.occasion.run.run_id} at {run.occasion.commit[:12]}",
        order=run.occasion.run,
    )


def _pages(run: RunResults) -> Iterator[tuple[str, tuple[str, bytes]]]:
    """Yield each trial with its page, failed trials first, until PAGES_BYTES."""
    remaining = PAGES_BYTES
    for row in sorted(run.board.trials, key=_passed):
        verdict = run.collected.found[row.trial]
        if remaining > 0 and isinstance(verdict, Verdict):
            view = results_page.make_view(run.collected.places[row.trial], verdict)
            (page,) = site.trial_pages((view,))
            remaining -= len(page[1])
            if remaining >= 0:
                yield row.trial, page


def _passed(row: TrialRow) -> bool:
    return all(cell.outcome in FINE for cell in row.cells.values())


def _creates_comment(report: RunReport, mode: CommentMode) -> bool:
    """Return whether to create a missing comment; without a base, everything is a change."""
    match mode:
        case CommentMode.OFF:
            return False
        case CommentMode.ALWAYS:
            return True
        case CommentMode.CHANGES:
            return report.comparison is None or changes.has_changes(report.comparison.levels)
        case CommentMode.FAILURES:
            fine = all(is_fine(report, row) for row in report.board.trials)
            return not (fine and report.board.complete)
        case _:
            assert_never(mode)
