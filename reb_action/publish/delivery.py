"""Writes to GitHub what there is to say, one thing after the other, and tells what came of each."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, assert_never

from reb_action import documents
from reb_action.errors import DocumentError, GitHubError
from reb_action.github.api.client import Client
from reb_action.github.api.faults import Fault, RefusedError
from reb_action.judge.gate import FailOn
from reb_action.model.github import CheckRun, Comment, Push, Written
from reb_action.model.scoreboard import Scoreboard
from reb_action.publish import content
from reb_action.publish.content import RunResults
from reb_action.publish.options import ChecksMode, Choice, CommentMode
from reb_action.render.markdown.run_report import Comparison
from reb_action.score import changes

Write = CheckRun | Comment | Push

SCOREBOARD: Final = "scoreboard.json"
_PASSING: Final = (Fault.BROKEN, Fault.REFUSED)
"""Refusals of one write that say nothing of the next one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WriteResult:
    """One write: what came of it, or why it was not done; `unread` where nothing could be."""

    what: str
    written: Written | None
    fault: str | None
    unread: bool = False


def fault(what: str, why: str) -> WriteResult:
    """Return what could not be done, and why."""
    return WriteResult(what=what, written=None, fault=why)


def unread(why: str) -> WriteResult:
    """Return why there is nothing to write: the run itself could not be read."""
    return WriteResult(what="read the run", written=None, fault=why, unread=True)


def note(what: str) -> WriteResult:
    """Return what was not done because it must not be."""
    return WriteResult(what=what, written=None, fault=None)


def publish(
    client: Client, made: RunResults, choice: Choice, fail_on: FailOn
) -> Iterator[WriteResult]:
    """Write everything that is wanted, and yield each write as it is done or fails."""
    compared = None
    if choice.comment is not CommentMode.OFF or choice.checks is not ChecksMode.OFF:
        compared, told_of_base = base_of(client, made, choice, fail_on)
        yield from told_of_base
    told = content.edition(made, choice, fail_on, compared)
    yield from _each(client, content.checks(told, choice.checks))
    yield from _each(client, content.comments(told, choice.comment, made.occasion))
    if choice.leaderboard:
        yield from _leaderboard(client, made, choice)


def base_of(
    client: Client, made: RunResults, choice: Choice, fail_on: FailOn
) -> tuple[Comparison | None, tuple[WriteResult, ...]]:
    """Return the comparison with the leaderboard's branch, or None and why there is none.

    That branch is written by runs of the default branch alone, perhaps by another version of ours.
    """
    try:
        data, commit = (client.file(choice.branch, name) for name in (SCOREBOARD, content.COMMIT))
        if data is None or commit is None:
            return None, ()
        board = documents.decode(data, Scoreboard, kind="scoreboard", name=SCOREBOARD)
    except GitHubError as error:
        return None, (fault("read the base", str(error)),)
    except DocumentError as error:
        return None, (note(f"no comparison: {error}"),)
    found = changes.compare(board, made.board, levels=made.levels, scoring=fail_on.scoring)
    return Comparison(commit=commit.decode("ascii", "replace").strip(), levels=found), ()


def _leaderboard(client: Client, made: RunResults, choice: Choice) -> Iterator[WriteResult]:
    try:
        refused = content.why_no_leaderboard(made.occasion, client.default_branch())
    except GitHubError as error:
        yield fault("write the leaderboard", str(error))
        return
    if refused is None:
        yield from _each(client, (content.leaderboard_push(made, choice),))
    else:
        yield note(f"no leaderboard: {refused}")


def _each(client: Client, wanted: Iterable[Write]) -> Iterator[WriteResult]:
    """Write one after the other, until GitHub refuses what it would refuse of all of a kind."""
    for one in wanted:
        try:
            yield WriteResult(what=_named(one), written=_write(client, one), fault=None)
        except GitHubError as error:
            yield fault(_named(one), str(error))
            if isinstance(error, RefusedError) and error.fault not in _PASSING:
                return


def _write(client: Client, one: Write) -> Written:
    match one:
        case CheckRun():
            return client.check_run(one)
        case Comment():
            return client.comment(one)
        case Push():
            return client.push(one)
        case _:
            assert_never(one)


def _named(one: Write) -> str:
    match one:
        case CheckRun():
            return f"check run {one.name}"
        case Comment():
            return f"comment on #{one.number}"
        case Push():
            return f"leaderboard on the branch {one.branch}"
        case _:
            assert_never(one)
