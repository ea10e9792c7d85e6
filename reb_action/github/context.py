"""Read the runner's environment variables into a value."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from reb_action.documents import NotJsonError, parse_json, read_bytes
from reb_action.errors import DocumentError
from reb_action.github.api.fields import at

_PULL_REQUEST_EVENTS: Final = frozenset(
    {"pull_request", "pull_request_target", "pull_request_review", "pull_request_review_comment"}
)
_RUN_URL: Final = re.compile(r"https?://[\w.:/-]+/[\w.-]+/[\w.-]+/actions/runs/\d{1,20}", re.ASCII)
_RESTRICTED: Final = frozenset({"dependabot[bot]"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Context:
    """The runner's environment. `output` and `summary` are None outside a runner, `run_url` is "".

    `fork` is set if the event comes from an account without write access: a fork (also a deleted
    one) or Dependabot.
    """

    output: Path | None = None
    summary: Path | None = None
    event: str = ""
    fork: bool = False
    run_url: str = ""

    @property
    def artifacts_url(self) -> str:
        """The URL of the artifacts of this run, or ""."""
        return f"{self.run_url}#artifacts" if self.run_url else ""


def read_context(environ: Mapping[str, str]) -> Context:
    """Return the context; an unreadable event counts as an event from a fork."""
    event = environ.get("GITHUB_EVENT_NAME", "")
    return Context(
        output=_path(environ, "GITHUB_OUTPUT"),
        summary=_path(environ, "GITHUB_STEP_SUMMARY"),
        event=event,
        run_url=_run_url(environ),
        fork=environ.get("GITHUB_ACTOR") in _RESTRICTED
        or (event in _PULL_REQUEST_EVENTS and _is_fork(environ)),
    )


def read_server_url(environ: Mapping[str, str]) -> str | None:
    """Return the address of the server that runs the job, without a slash at its end, or None."""
    return environ.get("GITHUB_SERVER_URL", "").rstrip("/") or None


def _run_url(environ: Mapping[str, str]) -> str:
    names = ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID")
    server, repository, run_id = (environ.get(name, "") for name in names)
    url = f"{server}/{repository}/actions/runs/{run_id}"
    return url if _RUN_URL.fullmatch(url) else ""


def _path(environ: Mapping[str, str], name: str) -> Path | None:
    return Path(environ[name]) if environ.get(name) else None


def _is_fork(environ: Mapping[str, str]) -> bool:
    path = _path(environ, "GITHUB_EVENT_PATH")
    if path is None:
        return True
    try:
        event = parse_json(read_bytes(path))
    except (DocumentError, NotJsonError):
        return True
    head = at(event, "pull_request", "head", "repo", "full_name")
    base = at(event, "pull_request", "base", "repo", "full_name")
    return head is None or head != base
