"""The only benchmark comment on a pull request: found by marker and author, never outdated."""

import re
from dataclasses import dataclass, replace
from typing import Final

from reb_action.documents import Json
from reb_action.github.api.faults import Fault, Need, RefusedError
from reb_action.github.api.fields import maybe_text, number, text
from reb_action.github.api.transport import Call, Transport
from reb_action.model.github import WORKFLOW, Comment, Effect, RunOrder, Written

_MARKER: Final = re.compile(
    r"<!-- researchenvbench:v1 key=([a-z0-9-]{1,64}) run=(\d{1,20}) attempt=(\d{1,9})"
    rf"(?: workflow=({WORKFLOW.pattern}))? -->"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Found:
    id: int
    body: str
    order: RunOrder
    url: str
    workflow: str


def marker(key: str, order: RunOrder, workflow: str = "") -> str:
    """Return the line that marks a benchmark comment; Markdown does not show it."""
    by = f" workflow={workflow}" if workflow else ""
    return f"<!-- researchenvbench:v1 key={key} run={order.run_id} attempt={order.attempt}{by} -->"


def upsert(transport: Transport, comment: Comment, *, author: str) -> Written:
    """Write the comment, or keep a newer run's; after a race of two runs there is one comment.

    GitHub has no conditional write: if two runs write in the same second, the older may win. The
    workflow's concurrency group prevents this. The comment of another workflow with the same key is
    not touched: there is a second one, and a warning.
    """
    what = f"write the comment on #{comment.number}"
    call = Call(path="", what=what, need=Need.PULLS_WRITE)
    mark = marker(comment.key, comment.order, comment.workflow)
    # At both ends: if an edit removes one mark, the other one still finds the comment.
    body = f"{mark}\n{comment.body}\n{mark}"

    def attempt(found: tuple[_Found, ...]) -> Written:
        if not found and not comment.create:
            return Written(effect=Effect.UNWANTED, url="")
        if not found:
            created = _create(transport, call, comment.number, body)
            mine = number(created, "id")
            found = _ours(transport, call, comment, author)
            if not found or found[0].id == mine:
                return Written(effect=Effect.CREATED, url=text(created, "html_url"))
            _delete(transport, call, mine)
            found = tuple(one for one in found if one.id != mine)
        return _settle(transport, call, found, body=body, order=comment.order)

    def attempt_again() -> Written:
        found, others = _list_marked(transport, call, comment, author)
        try:
            return replace(attempt(found), warning=_warn(comment, others))
        except RefusedError as error:
            # The comment was deleted after it was listed: write a new one.
            if error.fault is not Fault.MISSING or not found:
                raise
        return attempt(_ours(transport, call, comment, author))

    return transport.until_known(attempt_again, what=what)


def _settle(
    transport: Transport, call: Call, found: tuple[_Found, ...], *, body: str, order: RunOrder
) -> Written:
    """Update the oldest benchmark comment and remove others that a race created."""
    first, *others = found
    newest = max(one.order for one in found)
    if newest > order:
        return Written(effect=Effect.OUTDATED, url=first.url)
    for other in others:
        _delete(transport, call, other.id)
    if first.body == body:
        return Written(effect=Effect.UNCHANGED, url=first.url)
    path = f"{transport.repository}/issues/comments/{first.id}"
    transport.send(replace(call, verb="PATCH", path=path, body={"body": body}, write=True))
    return Written(effect=Effect.UPDATED, url=first.url)


def _ours(transport: Transport, call: Call, comment: Comment, author: str) -> tuple[_Found, ...]:
    """Return the comments of this key and workflow, the oldest first."""
    return _list_marked(transport, call, comment, author)[0]


def _warn(comment: Comment, others: tuple[_Found, ...]) -> str:
    if not others:
        return ""
    return (
        f"the workflow {others[0].workflow} comments on #{comment.number} with the same key"
        f" {comment.key!r}: {others[0].url}; set the input `key` of one of the two workflows"
    )


def _list_marked(
    transport: Transport, call: Call, comment: Comment, author: str
) -> tuple[tuple[_Found, ...], tuple[_Found, ...]]:
    """Return the comments of this key by this workflow, and those by others, the oldest first.

    One of a release that did not write the workflow is this one's.
    """
    path = f"{transport.repository}/issues/{comment.number}/comments"
    listed = transport.pages(replace(call, path=path))
    found = (_found(one, comment.key) for one in listed if _login(one) == author)
    marked = sorted((one for one in found if one is not None), key=lambda one: one.id)
    known = {"", comment.workflow} if comment.workflow else {one.workflow for one in marked}
    ours = tuple(one for one in marked if one.workflow in known)
    return ours, tuple(one for one in marked if one.workflow not in known)


def _login(comment: Json) -> str | None:
    """Return the author of a comment; None if the account was deleted."""
    return maybe_text(comment, "user", "login")


def _found(comment: Json, key: str) -> _Found | None:
    body = (maybe_text(comment, "body") or "").replace("\r\n", "\n")
    ends = (body.split("\n", 1)[0], body.rstrip("\n").rpartition("\n")[2])
    match = next((match for end in ends if (match := _MARKER.fullmatch(end))), None)
    if match is None or match[1] != key:
        return None
    order = RunOrder(run_id=int(match[2]), attempt=int(match[3]))
    url, workflow = text(comment, "html_url"), match[4] or ""
    return _Found(id=number(comment, "id"), body=body, order=order, url=url, workflow=workflow)


def _create(transport: Transport, call: Call, issue: int, body: str) -> Json:
    path = f"{transport.repository}/issues/{issue}/comments"
    return transport.send(
        replace(call, verb="POST", path=path, body={"body": body}, write=True, again=False)
    )


def _delete(transport: Transport, call: Call, comment_id: int) -> None:
    path = f"{transport.repository}/issues/comments/{comment_id}"
    try:
        transport.send(replace(call, verb="DELETE", path=path, write=True))
    except RefusedError as error:
        # The other run of the race has removed it already.
        if error.fault is not Fault.MISSING:
            raise
