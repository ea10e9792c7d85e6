"""What a benchmark was run for: a commit, perhaps a pull request, and by whose word."""

from dataclasses import dataclass

from reb_action.model.github import RunOrder


@dataclass(frozen=True, kw_only=True, slots=True)
class Occasion:
    """A run and what it was for; `commit` is the one that people see, not a merge of GitHub's.

    `branch` is where the commit came from, None where that is gone or a tag. `fork`: what the run
    made may have been made up, since its very workflow came from somebody who cannot write here.
    """

    event: str
    commit: str
    branch: str | None
    pull_requests: tuple[int, ...]
    fork: bool
    run: RunOrder
    url: str
