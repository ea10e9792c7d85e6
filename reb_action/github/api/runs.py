"""What GitHub knows about a run: itself, the pull requests it was for, its artifacts."""

from datetime import datetime

from reb_action.documents import Json
from reb_action.github.api.faults import Need
from reb_action.github.api.fields import at, maybe_text, number, text
from reb_action.github.api.transport import Call, Transport
from reb_action.model.github import Artifact, PullRequest, WorkflowRun


def login(transport: Transport) -> str:
    """Return the login of the token, with a query that works for apps and people."""
    answer = transport.graphql(
        "query { viewer { login } }", what="look up the user of the token", need=Need.METADATA
    )
    return text(answer, "data", "viewer", "login")


def default_branch(transport: Transport) -> str:
    """Return the name of the repository's default branch."""
    call = Call(path=transport.repository, what="read the repository", need=Need.METADATA)
    return text(transport.send(call), "default_branch")


def workflow_run(transport: Transport, run_id: int) -> WorkflowRun:
    """Return a run of this repository."""
    path = f"{transport.repository}/actions/runs/{run_id}"
    run = transport.send(Call(path=path, what=f"read run {run_id}", need=Need.ACTIONS_READ))
    return WorkflowRun(
        id=number(run, "id"),
        attempt=number(run, "run_attempt"),
        event=text(run, "event"),
        status=text(run, "status"),
        conclusion=maybe_text(run, "conclusion"),
        head_sha=text(run, "head_sha"),
        head_branch=maybe_text(run, "head_branch"),
        head_repository=maybe_text(run, "head_repository", "full_name"),
        actor=maybe_text(run, "actor", "login"),
        path=text(run, "path"),
        url=text(run, "html_url"),
    )


def pull_requests(transport: Transport, run: WorkflowRun) -> tuple[PullRequest, ...]:
    """Return the open pull requests of a run, the oldest first.

    The run's own list (empty for a fork) and its uploads are not used. Pull requests of the run's
    branch are returned even with newer commits: compare `head_sha`. For a deleted fork, only those
    at the run's commit are known.
    """
    if run.head_repository is None or run.head_branch is None:
        path, query = f"{transport.repository}/commits/{run.head_sha}/pulls", ()
    else:
        owner = run.head_repository.split("/")[0]
        head = ("head", f"{owner}:{run.head_branch}")
        path, query = f"{transport.repository}/pulls", (("state", "open"), head)
    what = f"find the pull request of run {run.id}"
    listed = transport.pages(Call(path=path, query=query, what=what, need=Need.PULLS_READ))
    found = (_pull_request(one) for one in listed if at(one, "state") == "open")
    return tuple(sorted((one for one in found if _is_of(one, run)), key=lambda one: one.number))


def open_pulls(transport: Transport, branch: str | None) -> tuple[PullRequest, ...]:
    """Return the open pull requests of a branch of this repository, or all of them."""
    owner = transport.repository.split("/")[2]
    query = (("state", "open"), *([("head", f"{owner}:{branch}")] if branch else []))
    path, what = f"{transport.repository}/pulls", "read the head of the pull request"
    listed = transport.pages(Call(path=path, query=query, what=what, need=Need.PULLS_READ))
    return tuple(_pull_request(one) for one in listed if at(one, "state") == "open")


def _is_of(found: PullRequest, run: WorkflowRun) -> bool:
    if run.head_repository is None:
        return found.head_repository is None and found.head_sha == run.head_sha
    return (found.head_repository, found.head_branch) == (run.head_repository, run.head_branch)


def _pull_request(one: Json) -> PullRequest:
    return PullRequest(
        number=number(one, "number"),
        head_sha=text(one, "head", "sha"),
        head_branch=text(one, "head", "ref"),
        head_repository=maybe_text(one, "head", "repo", "full_name"),
        base_branch=text(one, "base", "ref"),
        base_sha=text(one, "base", "sha"),
        draft=at(one, "draft") is True,
        url=text(one, "html_url"),
    )


def artifacts(transport: Transport, run_id: int) -> tuple[Artifact, ...]:
    """Return every artifact of all attempts of a run, as listed: one name may stand twice."""
    path = f"{transport.repository}/actions/runs/{run_id}/artifacts"
    call = Call(path=path, what=f"list the artifacts of run {run_id}", need=Need.ACTIONS_READ)
    return tuple(_artifact(one) for one in transport.pages(call, "artifacts"))


def _artifact(one: Json) -> Artifact:
    return Artifact(
        id=number(one, "id"),
        name=text(one, "name"),
        size_bytes=number(one, "size_in_bytes"),
        digest=maybe_text(one, "digest"),
        expired=at(one, "expired") is True,
        created_at=datetime.fromisoformat(text(one, "created_at")),
    )
