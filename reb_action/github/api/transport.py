"""One request to GitHub, repeated where its documentation says so; all pages of a list."""

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
from reb_action.github.api.pacing import LIMIT_HITS, Patience
from reb_action.model.github import Server

PAGE: Final = 100
PAGES: Final = 100
REPEATS: Final = 3
_VERSION: Final = "2022-11-28"
_LIMITS: Final = (Fault.PRIMARY_LIMIT, Fault.SECONDARY_LIMIT)

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """A request: `what` names it in errors, `need` is the permission it takes.

    `again`: doing it twice is as good as once, so it may be repeated when no answer came.
    """

    verb: str = "GET"
    path: str
    what: str
    need: Need
    query: tuple[tuple[str, str], ...] = ()
    body: Json = None
    again: bool = True
    write: bool = False


class Transport:
    """The connection; it never sends the token to another host than the API's."""

    def __init__(self, server: Server, patience: Patience, *, seconds: float) -> None:
        self.repository = f"/repos/{server.repository}"
        self.patience = patience
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
        """Return the answer's body; raises GitHubError."""
        return self._exchange(call)[1]

    def graphql(self, query: str, *, what: str, need: Need) -> Json:
        """Return the answer to a query that changes nothing."""
        url = self._requester.graphql_url
        body: Json = {"query": query, "variables": {}}
        return self.send(Call(verb="POST", path=url, body=body, what=what, need=need))

    def pages(self, call: Call, *names: str) -> tuple[Json, ...]:
        """Return the items of every page; `names` lead to a page's list."""
        found: list[Json] = []
        asked = replace(call, query=(*call.query, ("per_page", str(PAGE))))
        for _ in range(PAGES):
            answer, body = self._exchange(asked)
            found += fields.items(body, *names)
            following = _next(answer)
            if following is None:
                return tuple(found)
            asked = replace(call, path=following, query=())
        raise GitHubError(f"{call.what}: there are more than {PAGES * PAGE} and we stop here")

    def location(self, call: Call) -> str:
        """Return where GitHub redirects to."""
        answer, _ = self._exchange(call, redirect=True)
        if "location" not in answer.headers:
            raise GitHubError(f"{call.what}: GitHub answered {answer.status} and no redirect")
        return answer.headers["location"]

    def until_known(self, attempt: Callable[[], T], *, what: str) -> T:
        """Return what an attempt does that looks before it writes, again where one got lost."""
        for repeat in range(REPEATS):
            try:
                return attempt()
            except LostError:
                self.patience.wait(2.0**repeat, what=what)
        return attempt()

    def _exchange(self, call: Call, *, redirect: bool = False) -> tuple[Answer, Json]:
        """Return an answer that is a success, waiting for limits to pass."""
        hits = 0
        while True:
            answer, body = self._answered(call)
            if answer.status < 300 or (redirect and answer.status == 302):
                return answer, body
            if fault_of(answer) not in _LIMITS or hits == LIMIT_HITS:
                raise refusal(answer, what=call.what, need=call.need)
            seconds = limit_seconds(answer, now=self.patience.now(), hits=hits)
            self.patience.wait(seconds, what=call.what)
            hits += 1

    def _answered(self, call: Call) -> tuple[Answer, Json]:
        """Return an answer of GitHub's; where none came, ask again what may be asked again."""
        repeats = 0
        while True:
            try:
                return self._once(call)
            except LostError as lost:
                if not call.again:
                    raise
                if repeats == REPEATS:
                    raise GitHubError(str(lost)) from None
            self.patience.wait(2.0**repeats, what=call.what)
            repeats += 1

    def _once(self, call: Call) -> tuple[Answer, Json]:
        """Send once; raises LostError where the network or the server fails."""
        self.patience.before(write=call.write, what=call.what)
        try:
            answer, body = self._send(call)
        except (requests.RequestException, NotJsonError) as error:
            # Not the error's text, which quotes addresses.
            raise LostError(f"{call.what}: no answer ({type(error).__name__})") from None
        finally:
            self.patience.after(write=call.write)
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
            moved = f"{call.what}: GitHub redirects elsewhere, which is not followed with a token"
            raise RefusedError(moved, fault=Fault.MOVED, status=301) from None
        return _answer(status, cast(dict[str, str], headers), output)


def _answer(status: int, headers: dict[str, str], output: str) -> tuple[Answer, Json]:
    try:
        body = parse_json(output.encode()) if output else None
    except NotJsonError:
        # A proxy's error page is an answer; a success that cannot be read is none.
        if status < 300:
            raise
        body = None
    message = fields.maybe_text(body, "message") or ""
    return Answer(status=status, headers=headers, message=message), body


def _next(answer: Answer) -> str | None:
    """Return the next page's address; of it PyGithub takes the path and stays on the API's host."""
    for link in parse_header_links(answer.headers.get("link", "")):
        if link.get("rel") == "next":
            return link["url"]
    return None
