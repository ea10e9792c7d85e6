"""Sends check runs, comments and the leaderboard to GitHub, and yields the result of each write."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, assert_never

from reb_action.errors import DocumentError, GitHubError, UsageError
from reb_action.github.api.client import Client
from reb_action.github.api.faults import Fault, RefusedError
from reb_action.github.commands import write_summary
from reb_action.github.context import Context
from reb_action.judge.gate import FailOn
from reb_action.model.github import CheckRun, Comment, Written
from reb_action.publish import content, leaderboard
from reb_action.publish.base import compare_run
from reb_action.publish.board_state import Leaderboard
from reb_action.publish.content import RunResults
from reb_action.publish.options import ChecksMode, CommentMode, PublishOptions
from reb_action.render.markdown.changes import change_summary
from reb_action.render.markdown.run_report import BaseComparison

Write = CheckRun | Comment

_PASSING: Final = (Fault.BROKEN, Fault.REFUSED)
"""Refusals of a single write; the next write can still succeed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WriteResult:
    """The result of one write, or why it failed; `unread` if the run itself could not be read."""

    what: str
    written: Written | None
    fault: str | None
    unread: bool = False


def fault(what: str, why: str) -> WriteResult:
    """Return the result of a failed write."""
    return WriteResult(what=what, written=None, fault=why)


def unread(why: str) -> WriteResult:
    """Return the result for a run that could not be read."""
    return WriteResult(what="read the run", written=None, fault=why, unread=True)


def note(what: str) -> WriteResult:
    """Return the result of a write that was skipped on purpose."""
    return WriteResult(what=what, written=None, fault=None)


def send_writes(
    client: Client,
    run: RunResults,
    options: PublishOptions,
    fail_on: FailOn,
    *,
    board: Leaderboard,
    runner: Context,
) -> Iterator[WriteResult]:
    """Send all writes that the options name; yield the result of each.

    The change since the base goes to the job summary too; with `fail-on` regression, `reb report`
    has written it.
    """
    base = BaseComparison()
    if options.comment is not CommentMode.OFF or options.checks is not ChecksMode.OFF:
        base, results = compare(client, run, options, fail_on, board=board)
        yield from results
    report = content.make_report(run, options, fail_on, base)
    if base.contestants and fail_on.regression is None:
        write_summary(runner, change_summary(report))
    yield from _send(client, content.make_checks(report, options.checks))
    yield from _send(client, content.make_comments(report, options.comment, run.occasion))
    if options.leaderboard:
        yield from _leaderboard(client, run, board)


def compare(
    client: Client,
    run: RunResults,
    options: PublishOptions,
    fail_on: FailOn,
    *,
    board: Leaderboard,
) -> tuple[BaseComparison, tuple[WriteResult, ...]]:
    """Return the comparison with the base, or why there is none.

    Only runs of the default branch write the leaderboard, perhaps with another version of reb.
    """
    try:
        base = compare_run(options, board, client, run, fail_on)
    except (GitHubError, DocumentError, UsageError) as error:
        why = "the base cannot be read"
        return BaseComparison(why=why), (fault("read the base", str(error)),)
    return base, (note(f"no comparison: {base.why}"),) if base.why else ()


def _leaderboard(client: Client, run: RunResults, board: Leaderboard) -> Iterator[WriteResult]:
    what = f"leaderboard on the branch {board.branch}"
    try:
        refusal = content.leaderboard_refusal(run.occasion, client.default_branch())
        if refusal is not None:
            yield note(f"no leaderboard: {refusal}")
            return
        yield WriteResult(what=what, written=leaderboard.publish_run(board, run), fault=None)
    except GitHubError as error:
        yield fault(what, str(error))


def _send(client: Client, writes: Iterable[Write]) -> Iterator[WriteResult]:
    """Send writes in order; stop at a refusal that would also apply to the following ones."""
    for write in writes:
        try:
            yield WriteResult(what=_title(write), written=_write(client, write), fault=None)
        except GitHubError as error:
            yield fault(_title(write), str(error))
            if isinstance(error, RefusedError) and error.fault not in _PASSING:
                return


def _write(client: Client, write: Write) -> Written:
    match write:
        case CheckRun():
            return client.check_run(write)
        case Comment():
            return client.comment(write)
        case _:
            assert_never(write)


def _title(write: Write) -> str:
    match write:
        case CheckRun():
            return f"check run {write.name}"
        case Comment():
            return f"comment on #{write.number}"
        case _:
            assert_never(write)
