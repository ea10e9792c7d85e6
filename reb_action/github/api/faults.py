"""The kinds of refusals of GitHub, and the sentence with the advice for each.

The rules are those of its REST documentation: a rate limit shows in `retry-after`, in zero
remaining requests, or in the message. Retrying does not help with other forbidden requests.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Final, assert_never

from reb_action.documents import show
from reb_action.errors import GitHubError

SERVER_ERROR: Final = 500
_UNAUTHORIZED: Final = 401
_FORBIDDEN: Final = 403
_MISSING: Final = 404
_GONE: Final = 410
_TOO_MANY: Final = 429
_REDIRECTS: Final = range(300, 400)
_SECONDARY: Final = re.compile(r"(?i)secondary rate limit|abuse detection|submitted too quickly")
_PRIMARY: Final = re.compile(r"(?i)^api rate limit exceeded")
_LACKING: Final = re.compile(r"(?i)^resource not accessible by|^you must have|^must have")
_APP_ONLY: Final = re.compile(r"(?i)must authenticate via a github app")


class Need(StrEnum):
    """A permission, spelled as in a workflow's `permissions:`."""

    ACTIONS_READ = "actions: read"
    CHECKS_WRITE = "checks: write"
    CONTENTS_READ = "contents: read"
    CONTENTS_WRITE = "contents: write"
    METADATA = "metadata: read"
    PULLS_READ = "pull-requests: read"
    PULLS_WRITE = "pull-requests: write"


class Fault(StrEnum):
    """Why GitHub refused a request."""

    TOKEN = "token"  # noqa: S105
    PERMISSION = "permission"
    APP_ONLY = "app_only"
    SSO = "sso"
    FORBIDDEN = "forbidden"
    PRIMARY_LIMIT = "primary_limit"
    SECONDARY_LIMIT = "secondary_limit"
    MISSING = "missing"
    GONE = "gone"
    MOVED = "moved"
    REFUSED = "refused"
    BROKEN = "broken"


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """An answer of GitHub: lower-case header names, and its own `message` ("" without one)."""

    status: int
    headers: Mapping[str, str]
    message: str = ""


class RefusedError(GitHubError):
    """GitHub refused a request; `fault` and `status` have the reason."""

    def __init__(self, text: str, *, fault: Fault, status: int) -> None:
        super().__init__(text)
        self.fault = fault
        self.status = status


class LostError(GitHubError):
    """A write was sent and no answer came, so its result is unknown."""


def fault_of(answer: Answer) -> Fault:
    """Return why GitHub refused, for an answer without success."""
    status, message = answer.status, answer.message
    if status == _UNAUTHORIZED:
        return Fault.TOKEN
    if status in (_FORBIDDEN, _TOO_MANY):
        return _forbidden(answer)
    if status in (_MISSING, _GONE):
        return Fault.MISSING if status == _MISSING else Fault.GONE
    if status in _REDIRECTS:
        return Fault.MOVED
    if status >= SERVER_ERROR:
        return Fault.BROKEN
    # Comments that come too fast are refused as if they were wrong.
    return Fault.SECONDARY_LIMIT if _SECONDARY.search(message) else Fault.REFUSED


def _forbidden(answer: Answer) -> Fault:
    if _APP_ONLY.search(answer.message):
        return Fault.APP_ONLY
    if _LACKING.search(answer.message):
        return Fault.PERMISSION
    if "x-github-sso" in answer.headers:
        return Fault.SSO
    if answer.headers.get("x-ratelimit-remaining") == "0" or _PRIMARY.search(answer.message):
        return Fault.PRIMARY_LIMIT
    if (
        answer.status == _TOO_MANY
        or "retry-after" in answer.headers
        or _SECONDARY.search(answer.message)
    ):
        return Fault.SECONDARY_LIMIT
    return Fault.FORBIDDEN


def limit_seconds(answer: Answer, *, now: float, hits: int) -> float:
    """Return how long to wait for a limit to pass, met `hits` times before.

    https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api
    """
    after = answer.headers.get("retry-after", "")
    if after.isdecimal():
        return float(after)
    reset = answer.headers.get("x-ratelimit-reset", "")
    if answer.headers.get("x-ratelimit-remaining") == "0" and reset.isdecimal():
        return max(float(reset) - _server_time(answer, now), 1.0)
    return 60.0 * 2**hits


def _server_time(answer: Answer, now: float) -> float:
    """Return GitHub's own time, because a reset refers to it; the local clock may be wrong."""
    try:
        return parsedate_to_datetime(answer.headers.get("date", "")).timestamp()
    except ValueError:
        return now


def refusal(answer: Answer, *, what: str, need: Need) -> RefusedError:
    """Return the error for an answer: the failed action, the reason, and the advice."""
    fault = fault_of(answer)
    text = f"{what}: {_reason(fault, answer, need)}"
    return RefusedError(text, fault=fault, status=answer.status)


def _reason(fault: Fault, answer: Answer, need: Need) -> str:
    said = f"GitHub answered {answer.status}" + (
        f" {show(answer.message)}" if answer.message else ""
    )
    match fault:
        case Fault.TOKEN:
            return f"{said}: the token is not valid or has expired; pass github.token"
        case Fault.PERMISSION:
            return f"{said}: the token lacks `{_wanted(answer, need)}`; {_GRANT}"
        case Fault.APP_ONLY:
            return f"{said}: only an app may write it; use the job's own github.token"
        case Fault.SSO:
            return f"{said}: authorize the token for the organization's single sign-on"
        case Fault.FORBIDDEN:
            return f"{said}: a rule of the repository or organization forbids it"
        case Fault.PRIMARY_LIMIT | Fault.SECONDARY_LIMIT:
            return f"{said}: rate limit exceeded; run the job again later"
        case Fault.MISSING:
            return f"{said}: it does not exist, or the token lacks `{need}`; {_GRANT}"
        case Fault.GONE:
            return f"{said}: it has expired or is disabled"
        case Fault.MOVED:
            return f"{said}: it has moved; correct the repository's name or the API's URL"
        case Fault.REFUSED:
            return f"{said}: GitHub rejected it"
        case Fault.BROKEN:
            return f"{said}: server error; run the job again later"
        case _:
            assert_never(fault)


_GRANT: Final = (
    "add it under `permissions:` of the job and of each workflow that calls it "
    "(for a fork's or Dependabot's pull request, let publish.yml write: docs/publishing.md)"
)


def _wanted(answer: Answer, need: Need) -> str:
    """Return the permission that GitHub would accept, by its answer or else by the list here."""
    accepted = answer.headers.get("x-accepted-github-permissions", "")
    # The known one if GitHub accepts its scope: reading needs less than writing.
    scope = need.split(":")[0].replace("-", "_")
    scopes = {one.split("=")[0] for one in re.split("[;,] *", accepted)}
    if not re.fullmatch(r"[a-z_=;, ]{1,200}", accepted) or scope in scopes:
        return str(need)
    return re.split("; *", accepted)[0].replace("=", ": ").replace("_", "-")
