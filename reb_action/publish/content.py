"""What a run that came to something has to say, as the writes that say it; nothing is sent."""

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
from reb_action.publish.options import ChecksMode, Choice, CommentMode
from reb_action.render.html import site
from reb_action.render.markdown.checks import level_checks, trial_checks
from reb_action.render.markdown.comment import write_comment
from reb_action.render.markdown.run_report import Comparison, RunReport
from reb_action.render.markdown.sections import FINE, is_fine
from reb_action.results import page as results_page
from reb_action.results.collection import Collected
from reb_action.score import changes

TRIAL_CHECKS: Final = 50
"""Above so many trials checks are written by level: GitHub allows 80 writes in a minute."""
PAGES_BYTES: Final = 9_000_000
"""All pages of trials on a pushed leaderboard: with the rest they fit into two requests."""
COMMIT: Final = "commit.txt"
"""Beside the scoreboard: the commit that it is of."""
_RELEASING: Final = ("push", "schedule", "workflow_dispatch")
_FILE: Final = re.compile(r"(?:\./)?((?:[\w-][\w.-]*/)*[\w-][\w.-]*\.ya?ml)")


@dataclass(frozen=True, kw_only=True, slots=True)
class RunResults:
    """What a run came to, and what it was for."""

    occasion: Occasion
    plan: Plan
    collected: Collected
    board: Scoreboard
    levels: tuple[Level, ...]


def edition(
    made: RunResults, choice: Choice, fail_on: FailOn, compared: Comparison | None
) -> RunReport:
    """Return what there is to say."""
    return RunReport(
        key=choice.key,
        board=made.board,
        levels=made.levels,
        fail_on=fail_on,
        commit=made.occasion.commit,
        run=made.occasion.run,
        run_url=made.occasion.url,
        unverified=made.occasion.fork,
        comparison=compared,
        files={one.id: path for one in made.plan.trials if (path := file_of(one)) is not None},
    )


def file_of(trial: PlannedTrial) -> str | None:
    """Return the file of the caller's repository that describes a trial: manifest, else agent."""
    named = (_FILE.fullmatch(name) for name in (trial.repository, trial.agent))
    return next((match[1] for match in named if match is not None), None)


def checks(told: RunReport, mode: ChecksMode) -> tuple[CheckRun, ...]:
    """Return the check runs to write; by level too where there are too many trials."""
    match mode:
        case ChecksMode.OFF:
            return ()
        case ChecksMode.TRIALS if told.planned <= TRIAL_CHECKS:
            return trial_checks(told)
        case ChecksMode.TRIALS | ChecksMode.LEVELS:
            return level_checks(told)
        case _:
            assert_never(mode)


def comments(told: RunReport, mode: CommentMode, occasion: Occasion) -> tuple[Comment, ...]:
    """Return the comment for each pull request."""
    if mode is CommentMode.OFF or not occasion.pull_requests:
        return ()
    create, body = _worth_a_comment(told, mode), write_comment(told)
    return tuple(
        Comment(number=number, key=told.key, order=told.run, body=body, create=create)
        for number in occasion.pull_requests
    )


def why_no_leaderboard(occasion: Occasion, default_branch: str) -> str | None:
    """Return why a run must not write the leaderboard, which is of the default branch alone."""
    if occasion.fork:
        return "what a fork's workflow made is not published on the leaderboard"
    if occasion.event not in _RELEASING or occasion.branch != default_branch:
        return (
            f"the leaderboard is of {default_branch!r} alone, from {', '.join(_RELEASING)}; this"
            f" run is of {occasion.branch!r} from {occasion.event}"
        )
    return None


def leaderboard_push(made: RunResults, choice: Choice) -> Push:
    """Return all files of the leaderboard's branch."""
    pages = dict(_pages(made))
    files = (*site.front_files(made.board, pages), *pages.values())
    return Push(
        branch=choice.branch,
        folder="",
        files={**dict(files), COMMIT: f"{made.occasion.commit}\n".encode()},
        message=f"Leaderboard of run {made.occasion.run.run_id} at {made.occasion.commit[:12]}",
        order=made.occasion.run,
    )


def _pages(made: RunResults) -> Iterator[tuple[str, tuple[str, bytes]]]:
    """Yield each trial with its page, those that did not pass first, as far as there is room."""
    left = PAGES_BYTES
    for row in sorted(made.board.trials, key=_passed):
        verdict = made.collected.found[row.trial]
        if left > 0 and isinstance(verdict, Verdict):
            view = results_page.view(made.collected.places[row.trial], verdict)
            (page,) = site.trial_pages((view,))
            left -= len(page[1])
            if left >= 0:
                yield row.trial, page


def _passed(row: TrialRow) -> bool:
    return all(cell.outcome in FINE for cell in row.cells.values())


def _worth_a_comment(told: RunReport, mode: CommentMode) -> bool:
    """Say whether a comment is made where there is none; without a base all is a change."""
    match mode:
        case CommentMode.OFF:
            return False
        case CommentMode.ALWAYS:
            return True
        case CommentMode.CHANGES:
            return told.comparison is None or changes.has_changes(told.comparison.levels)
        case CommentMode.FAILURES:
            fine = all(is_fine(told, row) for row in told.board.trials)
            return not (fine and told.board.complete)
        case _:
            assert_never(mode)
