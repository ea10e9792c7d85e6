"""A GitHub API on loopback: stateful, with the real limits, each message compared with the
description; and beside it, under another host name, the store that artifacts are fetched from."""

import json
import re
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from email.utils import formatdate
from functools import lru_cache
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from tests.support.github_api import limits
from tests.support.github_api.asking import ProblemError, Request
from tests.support.github_api.contract import Contract
from tests.support.github_api.git_http import GitHost
from tests.support.github_api.routes import ROUTES
from tests.support.github_api.wire import Reply, Wire
from tests.support.github_api.world import Identity, World

PREFIX = {"github": "", "ghes": "/api/v3"}
VIEWER = "query { viewer { login } }"
RANKS = ("none", "read", "write")


@dataclass(kw_only=True)
class Clock:
    """Time that passes only when somebody sleeps; given to the server and to the client."""

    now: float = 1_800_000_000.0
    slept: list = field(default_factory=list)

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += seconds


@dataclass(frozen=True, kw_only=True)
class Seen:
    """One request that arrived."""

    verb: str
    path: str
    query: dict
    headers: dict
    body: object
    at: float


@dataclass(kw_only=True)
class Trouble:
    """What goes wrong with the next requests of a verb whose path has `path` in it.

    How: `answer` with status, message, headers (or `text` as it is); `reset` of the connection
    before anything is done; `lost`, the same after all is done; `cut`, an answer shorter than its
    header says; `half` an answer; `meanwhile`, something else happens first and all goes on.
    """

    verb: str
    path: str
    how: str = "answer"
    status: int = 500
    message: str = ""
    headers: dict = field(default_factory=dict)
    text: str | None = None
    action: Callable = lambda: None
    skip: int = 0
    times: int = 1

    def strikes(self, verb, path):
        """Say whether it is this request's turn, and count it."""
        if (verb, self.times > 0) != (self.verb, True) or self.path not in path:
            return False
        if self.skip > 0:
            self.skip -= 1
            return False
        self.times -= 1
        return True


@lru_cache
def contract_of(edition):
    return Contract(edition)


class GitHubApi:
    """Serves one World until it is closed; `faults` must be empty at the end of every test.

    `faults` are answers of ours that the description does not allow and requests to addresses
    that it does not have; `refused` is what was wrong with requests, each answered by a 422.
    """

    def __init__(self, edition="github"):
        self.contract = contract_of(edition)
        self.world = World()
        self.tokens = {"token": Identity()}
        self.clock = Clock()
        self.remaining = limits.HOURLY if edition == "github" else None
        self.reset = self.clock() + 3600
        self.troubles, self.seen, self.stored = [], [], []
        self.faults, self.refused = [], []
        self._edition, self._lock, self._content = edition, threading.Lock(), deque()
        self._servers = [Wire(self._handle), Wire(self._handle_store)]
        self.url = f"http://127.0.0.1:{self._servers[0].port}{PREFIX[edition]}"
        self.git = GitHost(self)
        self.store = f"http://localhost:{self._servers[1].port}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for server in self._servers:
            server.close()
        self.git.close()

    def writes(self):
        """Return the verb and path of each request that was to change something."""
        return [
            (one.verb, one.path)
            for one in self.seen
            if one.verb != "GET" and not one.path.endswith("/graphql")
        ]

    def _handle(self, verb, target, headers, data):
        """Answer a request to the API."""
        split = urlsplit(target)
        with self._lock:
            body = json.loads(data) if data else None
            query = dict(parse_qsl(split.query))
            seen = Seen(
                verb=verb, path=split.path, query=query, headers=headers, body=body, at=self.clock()
            )
            self.seen.append(seen)
            trouble = self._trouble(verb, split.path)
            if trouble is not None and trouble.how == "answer":
                return self._reply(trouble.status, *told(trouble), headers=trouble.headers)
            if trouble is not None and trouble.how == "reset":
                return Reply(how="reset")
            if trouble is not None:
                trouble.action()
            try:
                status, value, more = self._answer(seen)
            except ProblemError as problem:
                status, value, more = problem.status, error(problem), problem.headers
            reply = self._reply(status, value, headers=more)
            if trouble is not None and trouble.how in ("cut", "half"):
                return Reply(status=status, headers=reply.headers, data=reply.data, how=trouble.how)
            return Reply(how="reset") if trouble is not None and trouble.how == "lost" else reply

    def _trouble(self, verb, path):
        return next((one for one in self.troubles if one.strikes(verb, path)), None)

    def _answer(self, seen):
        """Return status, value and headers; raises ProblemError."""
        identity = self._identity(seen)
        self._count(seen)
        if seen.path == self._graphql():
            return 200, self._viewer(seen, identity), {}
        path = unquote(seen.path.removeprefix(PREFIX[self._edition]))
        # How GitHub itself spells the addresses of further pages.
        path = path.replace("/repositories/1/", f"/repos/{self.world.repository}/")
        operation = self.contract.operation(seen.verb, path)
        if operation is None or not seen.path.startswith(PREFIX[self._edition]):
            self.faults.append(f"{seen.verb} {seen.path} is not described")
            raise ProblemError(404, "Not Found")
        if f"{operation.values['owner']}/{operation.values['repo']}" != self.world.repository:
            raise ProblemError(404, "Not Found")
        route, accepted = ROUTES[operation.name]
        permit(identity, accepted)
        wrong = self.contract.request_faults(operation, seen.query, seen.body)
        if wrong:
            self.refused += wrong
            raise ProblemError(422, f"Invalid request. {wrong[0]}")
        request = Request(
            world=self.world,
            identity=identity,
            values=operation.values,
            query=seen.query,
            body=seen.body,
            url=self.url,
            store=self.store,
        )
        try:
            status, value = route(request)
        except ProblemError as problem:
            self._check(operation, problem.status, error(problem))
            raise
        if status == 302:
            return status, None, {"location": value}
        value, more = self._page(seen, path, value)
        return status, self._check(operation, status, value), more

    def _check(self, operation, status, value):
        """Return an answer filled up, as the description wants it; a difference is our fault."""
        schema = self.contract.answer_schema(operation, status)
        if schema is None:
            return value
        whole = self.contract.filled(schema, value)
        self.faults += self.contract.faults(schema, whole, f"{operation.name} {status}")
        return whole

    def _identity(self, seen):
        token = seen.headers.get("authorization", "").split(" ")[-1]
        if token not in self.tokens:
            raise ProblemError(401, "Bad credentials" if token else "Requires authentication")
        return self.tokens[token]

    def _count(self, seen):
        """Spend what the token may ask and what may be created; raises ProblemError beyond it."""
        if self.remaining is None:
            return
        if self.clock() >= self.reset:
            self.remaining, self.reset = limits.HOURLY, self.clock() + 3600
        if self.remaining == 0:
            raise ProblemError(403, "API rate limit exceeded for installation ID 1.")
        self.remaining -= 1
        if seen.verb == "GET" or seen.path == self._graphql():
            return
        while self._content and self._content[0] <= self.clock() - 3600:
            self._content.popleft()
        minute = sum(1 for at in self._content if at > self.clock() - 60)
        if minute >= limits.CONTENT_PER_MINUTE or len(self._content) >= limits.CONTENT_PER_HOUR:
            said = "You have exceeded a secondary rate limit and have been temporarily blocked."
            raise ProblemError(403, said, **{"retry-after": "60"})
        self._content.append(self.clock())

    def _graphql(self):
        return "/api/graphql" if self._edition == "ghes" else "/graphql"

    def _viewer(self, seen, identity):
        if seen.body.get("query") != VIEWER:
            self.faults.append(f"an unknown query: {seen.body.get('query')}")
            raise ProblemError(400, "unknown query")
        return {"data": {"viewer": {"login": identity.login}}}

    def _page(self, seen, path, value):
        """Return one page of a list and the header that leads on."""
        name = next((key for key in value or () if key in ("check_runs", "artifacts")), None)
        whole = value[name] if name else value
        if not isinstance(whole, list):
            return value, {}
        standard, most = limits.PER_PAGE
        size = min(int(seen.query.get("per_page", standard)), most)
        page = int(seen.query.get("page", 1))
        part = whole[(page - 1) * size : page * size]
        more = {}
        if len(whole) > page * size:
            query = urlencode({**seen.query, "page": page + 1})
            again = path.replace(f"/repos/{self.world.repository}/", "/repositories/1/")
            more = {"link": f'<{self.url}{again}?{query}>; rel="next"'}
        return ({**value, name: part} if name else part), more

    def _reply(self, status, value, *, headers):
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        sent = {"date": formatdate(self.clock(), usegmt=True), "content-type": "application/json"}
        if self.remaining is not None:
            sent |= {
                "x-ratelimit-limit": limits.HOURLY,
                "x-ratelimit-remaining": self.remaining,
                "x-ratelimit-reset": int(self.reset),
            }
        return Reply(status=status, headers=sent | headers, data=b"" if value is None else data)

    def _handle_store(self, verb, target, headers, _):
        """Send an artifact, to whoever knows its address."""
        split = urlsplit(target)
        with self._lock:
            self.stored.append(
                Seen(
                    verb=verb,
                    path=split.path,
                    query=dict(parse_qsl(split.query)),
                    headers=headers,
                    body=None,
                    at=self.clock(),
                )
            )
            trouble = self._trouble(verb, f"store{split.path}")
            wanted = int(re.sub(r"\D", "", split.path) or 0)
            found = [one for one in self.world.artifacts if one.id == wanted]
        if trouble is not None and trouble.how == "answer":
            return Reply(status=trouble.status, headers=trouble.headers)
        if not found:
            return Reply(status=404)
        data = found[0].data if found[0].served is None else found[0].served
        return Reply(data=data, how="whole" if trouble is None else trouble.how)


def permit(identity, accepted):
    """Raise ProblemError unless the token has one of them; say which would do, as GitHub does."""
    for name, level in accepted:
        if RANKS.index(identity.permissions.get(name, "none")) >= RANKS.index(level):
            return
    would = "; ".join(f"{name}={level}" for name, level in accepted)
    said = "Resource not accessible by integration"
    raise ProblemError(403, said, **{"x-accepted-github-permissions": would})


def error(problem):
    return {
        "message": problem.message,
        "documentation_url": "https://docs.github.com/rest",
        "status": str(problem.status),
    }


def told(trouble):
    """Return what a trouble answers."""
    if trouble.text is not None:
        return (trouble.text.encode(),)
    return ({"message": trouble.message, "documentation_url": "https://docs.github.com/rest"},)
