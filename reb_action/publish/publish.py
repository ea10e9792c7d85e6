"""Publishes what a run came to: check runs, a comment, the leaderboard; each written once.

A write that fails is told and changes nothing else: what was measured stands by itself.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from reb_action.errors import DocumentError, GitHubError, UsageError
from reb_action.github import event
from reb_action.github.api.client import Client
from reb_action.github.commands import format_warning, write_outputs
from reb_action.github.context import Context
from reb_action.judge.gate import FailOn
from reb_action.model.github import Pacing
from reb_action.model.manifest import Level
from reb_action.progress import Progress
from reb_action.publish import delivery, run
from reb_action.publish.delivery import WriteResult
from reb_action.publish.options import Choice
from reb_action.render.escape import log
from reb_action.workflow import report


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """What `reb publish` was asked for, and where it runs."""

    environ: Mapping[str, str] = field(repr=False)
    token: str = field(repr=False)
    choice: Choice
    fail_on: FailOn
    pacing: Pacing | None = None


def here(
    job: Job, path: Path | None, folder: Path | None, *, levels: tuple[Level, ...]
) -> Iterator[WriteResult]:
    """Publish this very run from its plan and a folder with its artifacts."""
    if path is None or folder is None:
        raise UsageError("name the plan and the artifacts of this run, or another run by --run-id")
    for_what = event.read_current_run(job.environ)
    if for_what.fork:
        yield delivery.note(
            "nothing is written: the token of a fork's run cannot; let publish.yml write"
        )
        return
    client = _client(job)
    try:
        made = run.here(path, folder, for_what, levels=levels)
    except DocumentError as error:
        yield delivery.fault("read the run", str(error))
        return
    yield from delivery.publish(client, made, job.choice, job.fail_on)


def of_run(job: Job, run_id: int, folder: Path, context: Context) -> Iterator[WriteResult]:
    """Publish another run, a summary first; its artifacts are unpacked below `folder`."""
    client = _client(job)
    try:
        repository = event.read_server(job.environ, job.token).repository
        for_what = event.read_other_run(client, run_id, repository=repository)
        made, faults = run.of_run(client, for_what, folder)
    except (GitHubError, DocumentError) as error:
        yield delivery.unread(str(error))
        return
    yield from (delivery.fault("read an artifact", one) for one in faults)
    report.summarise(made.board, context, scoring=job.fail_on.scoring)
    yield from delivery.publish(client, made, job.choice, job.fail_on)


def told(done: Iterable[WriteResult], context: Context, *, tell: Progress) -> str | None:
    """Say what each write came to, as it is done; return the faults in one line.

    Raises GitHubError where another run could not be read: that is no fault of a write.
    """
    faults: list[str] = []
    urls: dict[str, str] = {}
    unread = False
    for one in done:
        unread = unread or one.unread
        if one.fault is not None:
            faults.append(one.fault)
            tell(format_warning(log(one.fault, limit=4000)))
        elif one.written is None:
            tell(log(one.what))
        else:
            urls.setdefault(one.what.split()[0], one.written.url)
            tell(log(f"{one.what}: {one.written.effect} {one.written.url}"))
    write_outputs(
        context,
        {
            "published": "true" if urls and not faults else "false",
            "comment-url": urls.get("comment", ""),
            "leaderboard-url": urls.get("leaderboard", ""),
        },
    )
    if unread:
        raise GitHubError("; ".join(faults))
    return "; ".join(faults) or None


def _client(job: Job) -> Client:
    if not job.token:
        raise UsageError("there is no token to write with; give the action its input `token`")
    return Client(event.read_server(job.environ, job.token), pacing=job.pacing)
