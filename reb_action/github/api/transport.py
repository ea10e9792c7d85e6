"""Send requests to GitHub's API: retries, rate limits, a request budget and pagination.

PyGithub builds and sends each request; the rest is our own code, because PyGithub cannot do it:

- bound the total waiting time of a job (its retry waits for each request, without a sum)
- bound the number of requests, so that other jobs keep part of the hourly limit
- name the missing `permissions:` entry in an error
- repeat a request without an answer only if it is idempotent
- never send the token to another host: redirects are not followed, pages stay on the API's host
- use GitHub's own clock for the reset of a limit
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, TypeVar, cast

import github
import requests
from requests.utils import parse_header_links

from reb_action import __version__
from reb_action.documents import Json, NotJsonError, parse_json
from reb_action.errors import GitHubError
from reb_action.github.api import fields
from reb_action.github.api.faults import (
    SERVER_ERROR,
    Answer,
    Fault,
    LostError,
    Need,
    RefusedError,
    fault_of,
    limit_seconds,
    refusal,
)
from reb_action.model.github import Pacing, Server

PAGE: Final = 100
PAGES: Final = 100
REPEATS: Final = 3
LIMIT_HITS: Final = 4
_VERSION: Final = "2022-11-28"
_LIMITS: Final = (Fault.PRIMARY_LIMIT, Fault.SECONDARY_LIMIT)

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """A request: `what` names it in errors, `need` is the permission that it requires.

    `again`: the request is idempotent, so it is repeated if no answer came.
    """

    verb: str = "GET"
    path: str
    what: str
    need: Need
    query: tuple[tuple[str, str], ...] = ()
    body: Json = None
    again: bool = True
    write: bool = False


class RequestBudget:
    """Count requests, space writes and wait, within the limits of `Pacing`."""

    def __init__(
        self, pacing: Pacing, *, clock: Callable[[], float], sleep: Callable[[float], None]
    ) -> None:
        self.now = clock
        self._sleep = sleep
        self._pacing = pacing
        self._requests = pacing.requests
        self._seconds = pacing.waiting_seconds
        self._last_write = float("-inf")

    def before(self, *, write: bool, what: str) -> None:
        """Take one request from the budget; before a write, keep the distance to the last one."""
        if self._requests == 0:
            raise GitHubError(
                f"{what}: {self._pacing.requests} requests were made, which is the limit here: "
                "other jobs of the repository need the rest of its hourly limit"
            )
        self._requests -= 1
        early = self._last_write + self._pacing.between_writes - self.now()
        if write and early > 0:
            self._sleep(early)

    def after(self, *, write: bool) -> None:
        """Note when a write ended."""
        if write:
            self._last_write = self.now()

    def wait(self, seconds: float, *, what: str) -> None:
        """Sleep; raises GitHubError if this exceeds the waiting time that remains."""
        if seconds > self._seconds:
            raise GitHubError(
                f"{what}: rate limited: GitHub asks to wait {seconds:.0f} s, and only "
                f"{self._seconds:.0f} s of {self._pacing.waiting_seconds:.0f} s are left; "
                "run the job again later"
            )
        self._seconds -= seconds
        self._sleep(seconds)


class Transport:
    """A connection to the API; it sends the token to no other host."""

    def __init__(self, server: Server, budget: RequestBudget, *, seconds: float) -> None:
        self.repository = f"/repos/{server.repository}"
        self.budget = budget
        self.seconds = seconds
        self.api_url = server.api_url
        self._requester = github.Github(
            base_url=server.api_url,
            auth=github.Auth.Token(server.token),
            timeout=max(1, int(seconds)),
            user_agent=f"researchenvbench/{__version__}",
            api_version=_VERSION,
            retry=None,
            seconds_between_requests=0,
            seconds_between_writes=0,
        ).requester

    def send(self, call: Call) -> Json:
        """Send a request and return the body of the answer; raises GitHubError."""
        return self._exchange(call)[1]

    def graphql(self, query: str, *, what: str, need: Need) -> Json:
        """Return the answer to a read-only query."""
        url = self._requester.graphql_url
        body: Json = {"query": query, "variables": {}}
        return self.send(Call(verb="POST", path=url, body=body, what=what, need=need))

    def pages(self, call: Call, *names: str) -> tuple[Json, ...]:
        """Return the items of every page; `names` is the path to the list within a page."""
        collected: list[Json] = []
        request = replace(call, query=(*call.query, ("per_page", str(PAGE))))
        for _ in range(PAGES):
            answer, body = self._exchange(request)
            collected += fields.items(body, *names)
            following = _next(answer)
            if following is None:
                return tuple(collected)
            request = replace(call, path=following, query=())
        raise GitHubError(
            f"{call.what}: GitHub lists more than {PAGES * PAGE} items, which is the limit"
        )

    def location(self, call: Call) -> str:
        """Return where GitHub redirects to."""
        answer, _ = self._exchange(call, redirect=True)
        if "location" not in answer.headers:
            raise GitHubError(f"{call.what}: GitHub answered {answer.status} without a redirect")
        return answer.headers["location"]

    def until_known(self, attempt: Callable[[], T], *, what: str) -> T:
        """Run an attempt that checks before it writes; repeat it if an answer was lost."""
        for repeat in range(REPEATS):
            try:
                return attempt()
            except LostError:
                self.budget.wait(2.0**repeat, what=what)
        return attempt()

    def _exchange(self, call: Call, *, redirect: bool = False) -> tuple[Answer, Json]:
        """Return a successful answer; wait while a rate limit applies."""
        hits = 0
        while True:
            answer, body = self._answered(call)
            if answer.status < 300 or (redirect and answer.status == 302):
                return answer, body
            if fault_of(answer) not in _LIMITS or hits == LIMIT_HITS:
                raise refusal(answer, what=call.what, need=call.need)
            seconds = limit_seconds(answer, now=self.budget.now(), hits=hits)
            self.budget.wait(seconds, what=call.what)
            hits += 1

    def _answered(self, call: Call) -> tuple[Answer, Json]:
        """Return an answer; if none came, repeat an idempotent request."""
        repeats = 0
        while True:
            try:
                return self._once(call)
            except LostError as lost:
                if not call.again:
                    raise
                if repeats == REPEATS:
                    raise GitHubError(str(lost)) from None
            self.budget.wait(2.0**repeats, what=call.what)
            repeats += 1

    def _once(self, call: Call) -> tuple[Answer, Json]:
        """Send once; raises LostError if the network or the server fails."""
        self.budget.before(write=call.write, what=call.what)
        try:
            answer, body = self._send(call)
        except (requests.RequestException, NotJsonError) as error:
            # Not the error's text, which quotes addresses.
            raise LostError(f"{call.what}: no answer ({type(error).__name__})") from None
        finally:
            self.budget.after(write=call.write)
        if answer.status >= SERVER_ERROR:
            raise LostError(str(refusal(answer, what=call.what, need=call.need)))
        return answer, body

    def _send(self, call: Call) -> tuple[Answer, Json]:
        try:
            status, headers, output = self._requester.requestJson(
                call.verb,
                call.path,
                parameters=dict(call.query),
                headers={"Accept": "application/vnd.github+json"},
                input=call.body,
            )
        except RuntimeError:
            # PyGithub's refusal to follow a redirect to another host or scheme.
            moved = (
                f"{call.what}: GitHub redirects to another host; not followed, because the"
                " request has a token"
            )
            raise RefusedError(moved, fault=Fault.MOVED, status=301) from None
        return _answer(status, cast(dict[str, str], headers), output)


def _answer(status: int, headers: dict[str, str], output: str) -> tuple[Answer, Json]:
    try:
        body = parse_json(output.encode()) if output else None
    except NotJsonError:
        # A proxy's error page counts as an answer; an unreadable success does not.
        if status < 300:
            raise
        body = None
    message = fields.maybe_text(body, "message") or ""
    return Answer(status=status, headers=headers, message=message), body


def _next(answer: Answer) -> str | None:
    """Return the address of the next page; PyGithub uses only its path, on the API's host."""
    for link in parse_header_links(answer.headers.get("link", "")):
        if link.get("rel") == "next":
            return link["url"]
    return None
