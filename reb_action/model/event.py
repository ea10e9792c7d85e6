"""The event that a benchmark was run for: a commit, and possibly a pull request."""

from dataclasses import dataclass

from reb_action.model.github import RunOrder


@dataclass(frozen=True, kw_only=True, slots=True)
class Occasion:
    """A run and its event; `commit` is the head commit, not GitHub's merge commit.

    `branch` is the branch of the commit, None if it was deleted or is a tag. `fork`: the workflow
    file came from a fork, so the results of the run may be forged. `workflow` is the path of that
    file, "" if it is not known.
    """

    event: str
    commit: str
    branch: str | None
    pull_requests: tuple[int, ...]
    fork: bool
    run: RunOrder
    url: str
    workflow: str = ""
