"""Publishes what a run came to: check runs, a comment, the leaderboard; each written once.

A write that fails is told and changes nothing else: what was measured stands by itself.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, assert_never, cast

import click

from reb_action import changes, documents, gathering, reporting, writes
from reb_action.errors import DocumentError, GitHubError, UsageError
from reb_action.gate import FailOn
from reb_action.github import occasion
from reb_action.github.client import Client
from reb_action.github.commands import warning, write_outputs
from reb_action.github.context import Context
from reb_action.github.faults import Fault, RefusedError
from reb_action.model.manifest import Level
from reb_action.model.publication import CheckRun, Comment, Pacing, Push, Written
from reb_action.model.publishing import ChecksMode, Choice, CommentMode
from reb_action.model.scoreboard import Scoreboard
from reb_action.render.edition import Compared
from reb_action.render.escape import log
from reb_action.writes import Made

Write = CheckRun | Comment | Push

SCOREBOARD: Final = "scoreboard.json"
_PASSING: Final = (Fault.BROKEN, Fault.REFUSED)
"""Refusals of one write that say nothing of the next one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Done:
    """One write: what came of it, or why it was not done."""

    what: str
    written: Written | None
    fault: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """What `reb publish` was asked for, and where it runs."""

    environ: Mapping[str, str] = field(repr=False)
    token: str = field(repr=False)
    choice: Choice
    fail_on: FailOn
    pacing: Pacing | None = None


def choice(chosen: Mapping[str, object]) -> Choice:
    """Return what the command line asks for; raises UsageError."""
    key = cast(str, chosen["key"])
    if re.fullmatch(r"[a-z0-9][a-z0-9-]{0,39}", key) is None:
        raise UsageError(f"the key is {key[:60]!r}; use at most 40 of a-z, 0-9 and -")
    return Choice(
        key=key,
        comment=CommentMode(cast(str, chosen["comment"])),
        checks=ChecksMode(cast(str, chosen["checks"])),
        leaderboard=cast(bool, chosen["leaderboard"]),
    )


def here(
    job: Job, path: Path | None, folder: Path | None, *, levels: tuple[Level, ...]
) -> Iterator[Done]:
    """Publish this very run from its plan and a folder with its artifacts."""
    if path is None or folder is None:
        raise UsageError("name the plan and the artifacts of this run, or another run by --run-id")
    for_what = occasion.here(job.environ)
    if for_what.fork:
        yield _note("nothing is written: the token of a fork's run cannot; let publish.yml write")
        return
    client = _client(job)
    try:
        made = gathering.here(path, folder, for_what, levels=levels)
    except DocumentError as error:
        yield _fault("read the run", str(error))
        return
    yield from publish(client, made, job.choice, job.fail_on)


def of_run(job: Job, run_id: int, folder: Path, context: Context) -> Iterator[Done]:
    """Publish another run, a summary first; its artifacts are unpacked below `folder`."""
    client = _client(job)
    try:
        repository = occasion.server(job.environ, job.token).repository
        for_what = occasion.of_run(client, run_id, repository=repository)
        made, faults = gathering.of_run(client, for_what, folder)
    except (GitHubError, DocumentError) as error:
        yield _fault("read the run", str(error))
        return
    yield from (_fault("read an artifact", one) for one in faults)
    reporting.summarise(made.board, context, scoring=job.fail_on.scoring)
    yield from publish(client, made, job.choice, job.fail_on)


def publish(client: Client, made: Made, choice: Choice, fail_on: FailOn) -> Iterator[Done]:
    """Write everything that is wanted, and yield each write as it is done or fails."""
    compared, fault = None, None
    if choice.comment is not CommentMode.OFF or choice.checks is not ChecksMode.OFF:
        compared, fault = base_of(client, made, choice, fail_on)
    if fault is not None:
        yield _fault("read the base", fault)
    told = writes.edition(made, choice, fail_on, compared)
    yield from _each(client, writes.checks(told, choice.checks))
    yield from _each(client, writes.comments(told, choice.comment, made.occasion))
    if choice.leaderboard:
        yield from _leaderboard(client, made, choice)


def told(done: Iterable[Done], context: Context) -> str | None:
    """Say what each write came to, as it is done; return the faults in one line."""
    faults: list[str] = []
    urls: dict[str, str] = {}
    for one in done:
        if one.fault is not None:
            faults.append(one.fault)
            click.echo(warning(log(one.fault, limit=4000)))
        elif one.written is None:
            click.echo(log(one.what))
        else:
            urls.setdefault(one.what.split()[0], one.written.url)
            click.echo(log(f"{one.what}: {one.written.effect} {one.written.url}"))
    write_outputs(
        context,
        {
            "published": "false" if faults else "true",
            "comment-url": urls.get("comment", ""),
            "leaderboard-url": urls.get("leaderboard", ""),
        },
    )
    return "; ".join(faults) or None


def base_of(
    client: Client, made: Made, choice: Choice, fail_on: FailOn
) -> tuple[Compared | None, str | None]:
    """Return the comparison with the leaderboard's branch; None where it is missing or broken.

    That branch is written by runs of the default branch alone.
    """
    try:
        data, commit = (client.file(choice.branch, name) for name in (SCOREBOARD, writes.COMMIT))
        if data is None or commit is None:
            return None, None
        board = documents.decode(data, Scoreboard, kind="scoreboard", name=SCOREBOARD)
    except (GitHubError, DocumentError) as error:
        return None, str(error)
    found = changes.compare(board, made.board, levels=made.levels, scoring=fail_on.scoring)
    return Compared(commit=commit.decode("ascii", "replace").strip(), levels=found), None


def _leaderboard(client: Client, made: Made, choice: Choice) -> Iterator[Done]:
    try:
        refused = writes.why_no_leaderboard(made.occasion, client.default_branch())
    except GitHubError as error:
        yield _fault("write the leaderboard", str(error))
        return
    if refused is None:
        yield from _each(client, (writes.leaderboard_push(made, choice),))
    else:
        yield _note(f"no leaderboard: {refused}")


def _each(client: Client, wanted: Iterable[Write]) -> Iterator[Done]:
    """Write one after the other, until GitHub refuses what it would refuse of all of a kind."""
    for one in wanted:
        try:
            yield Done(what=_named(one), written=_write(client, one), fault=None)
        except GitHubError as error:
            yield _fault(_named(one), str(error))
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


def _client(job: Job) -> Client:
    if not job.token:
        raise UsageError("there is no token to write with; give the action its input `token`")
    return Client(occasion.server(job.environ, job.token), pacing=job.pacing)


def _fault(what: str, why: str) -> Done:
    return Done(what=what, written=None, fault=why)


def _note(what: str) -> Done:
    return Done(what=what, written=None, fault=None)
