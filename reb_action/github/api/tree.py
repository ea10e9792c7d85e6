"""A branch's files by git's own names for them, and the objects that change them.

https://docs.github.com/en/rest/guides/using-the-rest-api-to-interact-with-your-git-database
"""

import base64
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import quote

from reb_action.documents import Json
from reb_action.errors import GitHubError
from reb_action.github.api.faults import Fault, RefusedError
from reb_action.github.api.fields import at, items, text
from reb_action.github.api.transport import Call, Transport
from reb_action.model.github import Push

TREE_BYTES: Final = 6_000_000
"""Of one request's files; GitHub ends a request after ten seconds."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Tip:
    """Where a branch is; `files` are the blobs of the whole branch, by path."""

    commit: str
    tree: str
    url: str
    files: Mapping[str, str]


def tip_of(transport: Transport, call: Call, branch: str) -> Tip | None:
    """Return where a branch is, or None where there is no such branch."""
    head = head_of(transport, call, branch)
    if head is None:
        return None
    commits = f"{transport.repository}/git/commits/{head}"
    commit = transport.send(replace(call, path=commits))
    trees = f"{transport.repository}/git/trees/{text(commit, 'tree', 'sha')}"
    tree = transport.send(replace(call, path=trees, query=(("recursive", "1"),)))
    if at(tree, "truncated") is True:
        raise GitHubError(f"{call.what}: it has more files than GitHub lists; use another branch")
    blobs = (one for one in items(tree, "tree") if at(one, "type") == "blob")
    return Tip(
        commit=head,
        tree=text(tree, "sha"),
        url=text(commit, "html_url"),
        files={text(one, "path"): text(one, "sha") for one in blobs},
    )


def head_of(transport: Transport, call: Call, branch: str) -> str | None:
    """Return the commit that a branch points to, or None where there is no such branch."""
    path = f"{transport.repository}/git/ref/heads/{quote(branch)}"
    found = or_none(transport, replace(call, path=path))
    return None if found is None else text(found, "object", "sha")


def or_none(transport: Transport, call: Call) -> Json:
    """Return the answer, or None where GitHub has no such thing."""
    try:
        return transport.send(call)
    except RefusedError as error:
        if error.fault is Fault.MISSING:
            return None
        raise


def blob_of(transport: Transport, call: Call, sha: str) -> bytes:
    """Return a file's content."""
    path = f"{transport.repository}/git/blobs/{sha}"
    return base64.b64decode(text(transport.send(replace(call, path=path, query=())), "content"))


def changes_of(push: Push, tip: Tip | None, files: Mapping[str, bytes]) -> dict[str, bytes | None]:
    """Return what differs from the tip, by path; None is a file that must go."""
    there: Mapping[str, str] = {} if tip is None else tip.files
    prefix = f"{push.folder}/" if push.folder else ""
    gone = (path for path in there if path.startswith(prefix) and path not in files)
    changed = {path: data for path, data in files.items() if there.get(path) != _blob_id(data)}
    return {**changed, **dict.fromkeys(gone)}


def commit_on(
    transport: Transport, call: Call, push: Push, *, tip: Tip | None, files: Mapping[str, bytes]
) -> Json:
    """Make the trees and the commit; nothing points to them yet."""
    tree = None if tip is None else tip.tree
    for part in _parts(changes_of(push, tip, files)):
        entries = [_entry(transport, call, path, data) for path, data in part.items()]
        body: dict[str, Json] = {"tree": list[Json](entries)}
        if tree is not None:
            body["base_tree"] = tree
        tree = text(make(transport, call, "git/trees", body), "sha")
    parents: list[Json] = [] if tip is None else [tip.commit]
    return make(
        transport,
        call,
        "git/commits",
        {"message": push.message, "tree": tree, "parents": parents},
    )


def make(transport: Transport, call: Call, path: str, body: Json) -> Json:
    """Make an object; one made twice is the same, or nothing points to it."""
    place = f"{transport.repository}/{path}"
    return transport.send(replace(call, verb="POST", path=place, body=body, write=True))


def _parts(changes: Mapping[str, bytes | None]) -> Iterator[dict[str, bytes | None]]:
    """Yield the changes in parts of at most TREE_BYTES, but for a single larger file."""
    part: dict[str, bytes | None] = {}
    size = 0
    for path, data in sorted(changes.items()):
        length = len(data or b"")
        if part and size + length > TREE_BYTES:
            yield part
            part, size = {}, 0
        part[path] = data
        size += length
    yield part


def _entry(transport: Transport, call: Call, path: str, data: bytes | None) -> Json:
    entry: dict[str, Json] = {"path": path, "mode": "100644", "type": "blob"}
    if data is None:
        return {**entry, "sha": None}
    try:
        return {**entry, "content": data.decode()}
    except UnicodeDecodeError:
        content = base64.b64encode(data).decode()
        made = make(transport, call, "git/blobs", {"content": content, "encoding": "base64"})
        return {**entry, "sha": text(made, "sha")}


def _blob_id(data: bytes) -> str:
    """Return git's name for a file's content."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
