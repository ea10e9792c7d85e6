"""Reads the event of a run: of the current run, or of another run through the API."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from reb_action.documents import Json, NotJsonError, parse_json, read_bytes
from reb_action.errors import GitHubError, UsageError
from reb_action.github import context
from reb_action.github.api.client import Client
from reb_action.github.api.fields import at, maybe_text
from reb_action.model.event import Occasion
from reb_action.model.github import WORKFLOW, RunOrder, Server

_HEADS: Final[Mapping[str, tuple[str, ...]]] = {
    "pull_request": ("pull_request", "head", "sha"),
    "pull_request_target": ("pull_request", "head", "sha"),
    "pull_request_review": ("pull_request", "head", "sha"),
    "pull_request_review_comment": ("pull_request", "head", "sha"),
    "merge_group": ("merge_group", "head_sha"),
    "workflow_run": ("workflow_run", "head_sha"),
}
"""Path of the commit that people see, by event; for other events it is `GITHUB_SHA`."""

_BRANCH: Final = "refs/heads/"
_SHA: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_URL: Final = re.compile(r"https?://[A-Za-z0-9.-]+(?::\d+)?(?:/[A-Za-z0-9._-]+)*")
_REPOSITORY: Final = re.compile(r"[A-Za-z0-9._-]+/[A-Za-z0-9._-]+")


def read_server(environ: Mapping[str, str], token: str) -> Server:
    """Return the server of this repository; raises UsageError outside a runner."""
    return Server(
        token=token,
        repository=_fitting(environ, "GITHUB_REPOSITORY", _REPOSITORY),
        api_url=_fitting(environ, "GITHUB_API_URL", _URL),
        server_url=_fitting(environ, "GITHUB_SERVER_URL", _URL),
    )


def read_current_run(environ: Mapping[str, str]) -> Occasion:
    """Return what triggered the current run; raises UsageError outside a runner."""
    name, event = environ.get("GITHUB_EVENT_NAME", ""), _event(environ)
    run_id = _number(environ, "GITHUB_RUN_ID")
    repository = _fitting(environ, "GITHUB_REPOSITORY", _REPOSITORY)
    number = at(event, "pull_request", "number")
    return Occasion(
        event=name,
        commit=_commit(name, event, environ),
        branch=_branch(name, event, environ),
        pull_requests=(number,) if isinstance(number, int) else (),
        fork=context.read_context(environ).fork or _runs_for_fork(name, event, repository),
        run=RunOrder(run_id=run_id, attempt=_number(environ, "GITHUB_RUN_ATTEMPT")),
        url=f"{_fitting(environ, 'GITHUB_SERVER_URL', _URL)}/{repository}/actions/runs/{run_id}",
        workflow=_workflow(environ.get("GITHUB_WORKFLOW_REF", "").removeprefix(f"{repository}/")),
    )


def read_commented_pull(client: Client, occasion: Occasion, environ: Mapping[str, str]) -> Occasion:
    """Return the occasion of a comment on a pull request: its head, which people see, and its
    number.

    The event names the default branch's commit, where no user expects a result.
    """
    event = _event(environ)
    number = at(event, "issue", "number")
    if occasion.event != "issue_comment" or at(event, "issue", "pull_request") is None:
        return occasion
    heads = {pull.number: pull for pull in client.open_pulls()}
    pull = heads.get(number) if isinstance(number, int) else None
    if pull is None:
        return occasion
    return replace(
        occasion, commit=pull.head_sha, branch=pull.head_branch, pull_requests=(pull.number,)
    )


def read_other_run(client: Client, run_id: int, *, repository: str) -> Occasion:
    """Return the event of another run, from the API only: its uploads are not trusted.

    A pull request with a newer commit belongs to the run of that commit.
    """
    run = client.workflow_run(run_id)
    if _URL.fullmatch(run.url) is None or _SHA.fullmatch(run.head_sha) is None:
        raise GitHubError(f"read run {run_id}: unexpected response; check GITHUB_API_URL")
    # A workflow that belongs to a pull request is the only one that may comment on it.
    pulls = client.pull_requests(run) if run.event == "pull_request" else ()
    return Occasion(
        event=run.event,
        commit=run.head_sha,
        branch=run.head_branch,
        pull_requests=tuple(pull.number for pull in pulls if pull.head_sha == run.head_sha),
        fork=(run.head_repository or "").lower() != repository.lower(),
        run=RunOrder(run_id=run.id, attempt=run.attempt),
        url=run.url,
        workflow=_workflow(run.path),
    )


def _workflow(path: str) -> str:
    """Return the path of a workflow's file without its ref, "" if no marker can hold it."""
    file = path.partition("@")[0]
    return file if WORKFLOW.fullmatch(file) else ""


def _event(environ: Mapping[str, str]) -> Json:
    path = environ.get("GITHUB_EVENT_PATH")
    if not path:
        raise UsageError("GITHUB_EVENT_PATH is not set; reb publish is for a job on a runner")
    try:
        return parse_json(read_bytes(Path(path)))
    except NotJsonError as error:
        raise UsageError(f"the event of this run is not valid JSON: {error}") from None


def _commit(name: str, event: Json, environ: Mapping[str, str]) -> str:
    names = _HEADS.get(name)
    found = environ.get("GITHUB_SHA") if names is None else maybe_text(event, *names)
    if found is None or _SHA.fullmatch(found) is None:
        raise UsageError(f"the event {name!r} has no commit to report on; see docs/publishing.md")
    return found


def _branch(name: str, event: Json, environ: Mapping[str, str]) -> str | None:
    if name in _HEADS:
        place = "workflow_run" if name == "workflow_run" else "pull_request"
        return maybe_text(event, place, "head_branch") or maybe_text(event, place, "head", "ref")
    ref = environ.get("GITHUB_REF", "")
    return ref.removeprefix(_BRANCH) if ref.startswith(_BRANCH) else None


def _runs_for_fork(name: str, event: Json, repository: str) -> bool:
    if name != "workflow_run":
        return False
    head = maybe_text(event, "workflow_run", "head_repository", "full_name")
    return (head or "").lower() != repository.lower()


def _number(environ: Mapping[str, str], name: str) -> int:
    return int(_fitting(environ, name, re.compile(r"\d{1,20}")))


def _fitting(environ: Mapping[str, str], name: str, pattern: re.Pattern[str]) -> str:
    value = environ.get(name, "")
    if pattern.fullmatch(value) is None:
        raise UsageError(f"{name} is {value[:100]!r}; reb publish is for a job on a runner")
    return value
