"""Publishes a run to GitHub: check runs, a comment and the leaderboard, each written once.

A failed write is reported and changes nothing else; in particular not the results.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from reb_action import documents
from reb_action.errors import DocumentError, GitHubError, UsageError
from reb_action.github import event
from reb_action.github.api.client import Client
from reb_action.github.commands import format_warning, write_outputs, write_summary
from reb_action.github.context import Context, read_context
from reb_action.judge.gate import FailOn
from reb_action.model.event import Occasion
from reb_action.model.github import Effect, Pacing
from reb_action.model.manifest import Level
from reb_action.model.progress import Progress
from reb_action.model.scoreboard import Scoreboard
from reb_action.publish import content, delivery, run
from reb_action.publish.base import NO_BOARD, explain_regression, find_base, make_outlook
from reb_action.publish.board_state import Leaderboard
from reb_action.publish.content import RunResults
from reb_action.publish.delivery import WriteResult
from reb_action.publish.git_branch import Remote
from reb_action.publish.leaderboard import Base
from reb_action.publish.options import ChecksMode, CommentMode, PublishOptions
from reb_action.render.escape import log
from reb_action.render.markdown.changes import change_summary
from reb_action.results import plan_file
from reb_action.results.comparison import read_place
from reb_action.workflow import report
from reb_action.workflow.sequential import make_rule


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """The options and the environment of `reb publish`."""

    environ: Mapping[str, str] = field(repr=False)
    token: str = field(repr=False)
    options: PublishOptions
    fail_on: FailOn
    pacing: Pacing | None = None
    clock: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep


def publish_this_run(
    job: Job, path: Path | None, folder: Path | None, *, levels: tuple[Level, ...]
) -> Iterator[WriteResult]:
    """Publish the current run from its plan and a folder with its artifacts."""
    if path is None or folder is None:
        raise UsageError("give --plan and --artifacts of this run, or --run-id of another run")
    occasion = event.read_current_run(job.environ)
    if occasion.fork:
        yield delivery.note(
            "Skipped: tokens for fork pull requests are read-only; use publish.yml."
        )
        return
    client = _client(job)
    try:
        occasion = event.read_commented_pull(client, occasion, job.environ)
        run_results = run.read_this_run(path, folder, occasion, levels=levels)
    except (DocumentError, GitHubError) as error:
        yield delivery.fault("read the run", str(error))
        return
    if job.options.comment is not CommentMode.OFF and _has_newer_commits(client, occasion):
        yield delivery.note("no comment: the pull request has newer commits")
        run_results = replace(run_results, occasion=replace(occasion, pull_requests=()))
    if job.options.comment is not CommentMode.OFF or job.options.checks is not ChecksMode.OFF:
        run_results = run.find_evidence(client, run_results, key=job.options.key)
    yield from _send(job, client, run_results)


def _has_newer_commits(client: Client, occasion: Occasion) -> bool:
    """Return whether the pull request moved on during the run; False where that is unknown."""
    if not occasion.pull_requests or occasion.branch is None:
        return False
    try:
        pulls = client.open_pulls(occasion.branch)
    except GitHubError:
        return False
    heads = {pull.number: pull.head_sha for pull in pulls}
    return any(
        heads.get(number, occasion.commit) != occasion.commit for number in occasion.pull_requests
    )


def publish_other_run(
    job: Job, run_id: int, folder: Path, context: Context
) -> Iterator[WriteResult]:
    """Publish another run, after its summary; its artifacts are unpacked below `folder`."""
    client = _client(job)
    try:
        repository = event.read_server(job.environ, job.token).repository
        occasion = event.read_other_run(client, run_id, repository=repository)
        run_results, faults = run.read_other_run(client, occasion, folder, key=job.options.key)
    except (GitHubError, DocumentError) as error:
        yield delivery.unread(str(error))
        return
    yield from (delivery.fault("read an artifact", fault) for fault in faults)
    report.write_board_summary(
        run_results.board, context, scoring=job.fail_on.scoring, stop=run_results.collected.stop
    )
    yield from _send(job, client, run_results)


def report_writes(
    results: Iterable[WriteResult], context: Context, *, tell: Progress
) -> str | None:
    """Report the result of each write when it is done; return the faults in one line.

    Raises GitHubError if another run could not be read, since then nothing was written.
    """
    faults: list[str] = []
    urls: dict[str, str] = {}
    unread = outdated = False
    for result in results:
        unread = unread or result.unread
        if result.fault is not None:
            faults.append(result.fault)
            tell(format_warning(log(result.fault, limit=4000)))
        elif result.written is None:
            tell(log(result.what))
        elif result.written.effect is Effect.OUTDATED:
            outdated = True
            tell(format_warning(log(f"{result.what}: not written: a newer run has written it")))
        else:
            if result.written.url:
                urls.setdefault(result.what.split()[0], result.written.url)
            tell(log(f"{result.what}: {result.written.effect} {result.written.url}"))
            if result.written.warning:
                tell(format_warning(log(result.written.warning, limit=4000)))
    write_outputs(
        context,
        {
            "published": "true" if urls and not faults and not outdated else "false",
            "comment-url": urls.get("comment", ""),
            "leaderboard-url": urls.get("leaderboard", ""),
        },
    )
    if unread:
        raise GitHubError("; ".join(faults))
    return "; ".join(faults) or None


def check_regression(
    job: Job, path: Path, folder: Path, *, levels: tuple[Level, ...]
) -> str | None:
    """Return why `fail-on` regression or broken fails this run; write the change to the summary.

    A base that cannot be read fails the run too: a missing comparison is not a pass.
    """
    occasion = event.read_current_run(job.environ)
    client = _client(job)
    results = run.read_this_run(path, folder, occasion, levels=levels)
    results = run.find_evidence(client, results, key=job.options.key)
    with TemporaryDirectory() as scratch:
        board = _board(job, Path(scratch))
        base, faults = delivery.compare(client, results, job.options, job.fail_on, board=board)
    if faults and faults[0].fault:
        base = replace(base, why=faults[0].fault)
    of_run = content.make_report(results, job.options, job.fail_on, base)
    if base.contestants:
        write_summary(read_context(job.environ), change_summary(of_run))
    return explain_regression(of_run)


def write_base(job: Job, path: Path, *, levels: tuple[Level, ...], sequential: bool) -> Path:
    """Write the base of a planned run next to its plan, as base.json; return the file.

    Raises UsageError without a base, or if a sequential run could not fail against it.
    """
    place = Path(job.options.base)
    board = read_place(place) if job.options.base and place.exists() else _fetch_base(job, path)
    if sequential:
        plan = plan_file.read_plan(path)
        make_outlook(board, plan, make_rule(job.fail_on, levels)).demand_open()
    base = path.with_name("base.json")
    documents.write(base, board, kind="scoreboard")
    return base


def _fetch_base(job: Job, path: Path) -> Scoreboard:
    """Return the base of a planned run from GitHub; raises UsageError without one."""
    occasion = event.read_current_run(job.environ)
    client = _client(job)
    with TemporaryDirectory() as scratch:
        results = run.read_this_run(path, Path(scratch) / "none", occasion, levels=())
        found = find_base(job.options, _board(job, Path(scratch)), client, results)
    if not isinstance(found, Base):
        raise UsageError(f"there is no base to compare with: {found or NO_BOARD}")
    return found.board


def _send(job: Job, client: Client, results: RunResults) -> Iterator[WriteResult]:
    """Send all writes; the leaderboard's branch is fetched into a folder that is removed.

    A run that planned no trial has nothing to say: it does not touch what earlier runs wrote.
    """
    if not results.plan.trials:
        yield delivery.note("nothing is published: the run planned no trial")
        return
    with TemporaryDirectory() as scratch:
        yield from delivery.send_writes(
            client,
            results,
            job.options,
            job.fail_on,
            board=_board(job, Path(scratch)),
            runner=read_context(job.environ),
        )


def _board(job: Job, scratch: Path) -> Leaderboard:
    server = event.read_server(job.environ, job.token)
    repository = f"{server.server_url}/{server.repository}"
    return Leaderboard(
        remote=Remote(url=f"{repository}.git", token=server.token),
        branch=job.options.branch,
        url=f"{repository}/tree/{job.options.branch}",
        git_dir=scratch / "board.git",
        clock=job.clock,
        sleep=job.sleep,
    )


def _client(job: Job) -> Client:
    if not job.token:
        raise UsageError("no token to write with; set the input `token`")
    return Client(event.read_server(job.environ, job.token), pacing=job.pacing)
