"""The operations on GitHub that publishing needs: plain values in and out."""

import time
from collections.abc import Callable
from typing import BinaryIO

from reb_action.github.api import checks, comments, runs
from reb_action.github.api import download as downloads
from reb_action.github.api.transport import RequestBudget, Transport
from reb_action.model.github import (
    Artifact,
    CheckRun,
    Comment,
    Pacing,
    PullRequest,
    Server,
    WorkflowRun,
    Written,
)


class Client:
    """A connection to one repository, with a budget; every failure is a GitHubError."""

    def __init__(
        self,
        server: Server,
        *,
        pacing: Pacing | None = None,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        pacing = pacing or Pacing()
        budget = RequestBudget(pacing, clock=clock, sleep=sleep)
        self._transport = Transport(server, budget, seconds=pacing.request_seconds)

    def login(self) -> str:
        """Return the account of the token, such as `github-actions[bot]`."""
        return runs.login(self._transport)

    def default_branch(self) -> str:
        """Return the name of the repository's default branch."""
        return runs.default_branch(self._transport)

    def workflow_run(self, run_id: int) -> WorkflowRun:
        """Return a run of this repository."""
        return runs.workflow_run(self._transport, run_id)

    def pull_requests(self, run: WorkflowRun) -> tuple[PullRequest, ...]:
        """Return the open pull requests of a run, the oldest first."""
        return runs.pull_requests(self._transport, run)

    def open_pulls(self, branch: str | None = None) -> tuple[PullRequest, ...]:
        """Return the open pull requests of a branch of this repository, or all of them."""
        return runs.open_pulls(self._transport, branch)

    def artifacts(self, run_id: int) -> tuple[Artifact, ...]:
        """Return every artifact of all attempts of a run; one name may stand twice."""
        return runs.artifacts(self._transport, run_id)

    def download(self, artifact: Artifact, file: BinaryIO, *, limit_bytes: int) -> None:
        """Write an artifact's zip into an empty file, its digest checked."""
        downloads.download(self._transport, artifact, file, limit_bytes=limit_bytes)

    def check_run(self, check: CheckRun) -> Written:
        """Write a check run, or update the one with its name and external id."""
        return checks.upsert(self._transport, check)

    def comment(self, comment: Comment, *, author: str | None = None) -> Written:
        """Write the comment of its key by `author` (default: the token); a newer one stays."""
        return comments.upsert(self._transport, comment, author=author or self.login())
