"""Values that are written to GitHub or read from it, and their limits.

The limits are the documented ones, or the enforced ones where GitHub enforces others.
"""

import re
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

COMMENT_CHARACTERS: Final = 65_536
"""A comment's body, in code points, its marker among them."""
WORKFLOW: Final = re.compile(r"[A-Za-z0-9._/-]{1,160}")
"""The path of a workflow's file that a marker can hold: no end of a comment, no space."""
MARKER_CHARACTERS: Final = 640
"""Characters of a body that are reserved for the two lines of the marker."""
CHECK_BYTES: Final = 65_535
"""A check run's summary, and its text: documented as characters, enforced in UTF-8 bytes."""
ANNOTATIONS_PER_REQUEST: Final = 50
"""More than these take further requests, each of which appends."""
TITLE_CHARACTERS: Final = 255
"""A check run's or an annotation's title."""


class Conclusion(StrEnum):
    """The conclusions of a check run that the benchmark uses."""

    SUCCESS = "success"
    FAILURE = "failure"
    NEUTRAL = "neutral"
    SKIPPED = "skipped"
    TIMED_OUT = "timed_out"


class AnnotationLevel(StrEnum):
    """How loud an annotation is."""

    WARNING = "warning"
    FAILURE = "failure"


@dataclass(frozen=True, kw_only=True, slots=True)
class Annotation:
    """A remark on lines of a file that the commit has."""

    path: str
    start_line: int
    end_line: int
    level: AnnotationLevel
    message: str
    title: str


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckRun:
    """A completed check run; `external_id` tells which of one name at one commit is meant."""

    name: str
    head_sha: str
    external_id: str
    conclusion: Conclusion
    title: str
    summary: str
    text: str | None = None
    annotations: tuple[Annotation, ...] = ()
    details_url: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class RunOrder:
    """Which of two runs is the newer: the greater. A re-run of an old run stays old."""

    run_id: int
    attempt: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Comment:
    """The one comment of `key` (`[a-z0-9-]{1,64}`) and `workflow` on an issue or pull request.

    The client puts the marker, with key, order and workflow, before `body`. Without `create` an
    existing comment is updated and no new one is created. `workflow` is the path of the workflow's
    file, "" if it is not known: then it is the comment of any workflow.
    """

    number: int
    key: str
    order: RunOrder
    body: str
    create: bool = True
    workflow: str = ""


class Effect(StrEnum):
    """The result of a write; `OUTDATED`: a newer run wrote first, so nothing was written.

    `UNWANTED`: there was nothing to update, and nothing should be created.
    """

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    OUTDATED = "outdated"
    UNWANTED = "unwanted"


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """One completed write; `url` is its page on GitHub, `warning` what the user should know."""

    effect: Effect
    url: str
    warning: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkflowRun:
    """A run of a workflow. `head_repository` is None if its fork was deleted."""

    id: int
    attempt: int
    event: str
    status: str
    conclusion: str | None
    head_sha: str
    head_branch: str | None
    head_repository: str | None
    actor: str | None
    path: str
    url: str


@dataclass(frozen=True, kw_only=True, slots=True)
class PullRequest:
    """An open pull request. `head_repository` is None if its fork was deleted."""

    number: int
    head_sha: str
    head_branch: str
    head_repository: str | None
    base_branch: str
    base_sha: str
    draft: bool
    url: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Artifact:
    """An artifact of a run; `digest` is `sha256:…` of the zip, None if the server has none."""

    id: int
    name: str
    size_bytes: int
    digest: str | None
    expired: bool
    created_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Pacing:
    """The pace of requests to GitHub, in seconds; writes are its content-creating requests.

    GitHub allows 80 such writes in a minute. `waiting_seconds` is the longest time that one client
    waits for rate limits, over its whole life.
    """

    between_writes: float = 0.8
    waiting_seconds: float = 300.0
    requests: int = 900
    request_seconds: float = 30.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Server:
    """The addresses of GitHub, from the runner's environment, and the token."""

    token: str = field(repr=False)
    repository: str
    api_url: str = "https://api.github.com"
    server_url: str = "https://github.com"
