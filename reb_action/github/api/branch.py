"""Push files to a branch in one commit: no clone, no force push."""

import base64
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final
from urllib.parse import quote

from reb_action.documents import Json
from reb_action.errors import GitHubError
from reb_action.github.api.faults import Need, RefusedError
from reb_action.github.api.fields import at, text
from reb_action.github.api.transport import Call, Transport
from reb_action.github.api.tree import (
    Tip,
    blob_of,
    changes_of,
    commit_on,
    head_of,
    make,
    or_none,
    tip_of,
)
from reb_action.model.github import Effect, Push, RunOrder, Written

ORDER_FILE: Final = ".researchenvbench-run"
"""Names the run that wrote a folder, so that an older run does not overwrite it."""
ATTEMPTS: Final = 8
_CONFLICT: Final = 409
_INVALID: Final = 422


def push(transport: Transport, push: Push) -> Written:
    """Add one commit that makes a folder of a branch what `push` says.

    If another push moves the branch, the files are compared with the new tip.
    """
    what = f"push to the branch {push.branch!r}"
    call = Call(path="", what=what, need=Need.CONTENTS_WRITE)
    files = _placed(push)
    for attempt in range(ATTEMPTS):
        tip = tip_of(transport, call, push.branch)
        effect = _effect(transport, call, push, tip=tip, files=files)
        if tip is not None and effect in (Effect.OUTDATED, Effect.UNCHANGED):
            return Written(effect=effect, url=tip.url)
        commit = commit_on(transport, call, push, tip=tip, files=files)
        if _move(transport, call, push.branch, tip=tip, commit=text(commit, "sha")):
            return Written(effect=effect, url=text(commit, "html_url"))
        transport.budget.wait(0.25 * 2**attempt, what=what)
    raise GitHubError(
        f"{what}: the branch changed concurrently {ATTEMPTS} times; run the job again"
    )


def file(transport: Transport, branch: str, path: str) -> bytes | None:
    """Return a file of a branch, or None where either is missing."""
    call = Call(
        path=f"{transport.repository}/contents/{quote(path)}",
        query=(("ref", branch),),
        what=f"read {path} of the branch {branch!r}",
        need=Need.CONTENTS_READ,
    )
    found = or_none(transport, call)
    if found is None:
        return None
    if at(found, "encoding") == "base64":
        return base64.b64decode(text(found, "content"))
    # Beyond 1 MB the content is left out.
    return blob_of(transport, call, text(found, "sha"))


def _placed(push: Push) -> dict[str, bytes]:
    """Return the files by their path on the branch, with the file that names the run."""
    order = f"{push.order.run_id} {push.order.attempt}\n".encode()
    prefix = f"{push.folder}/" if push.folder else ""
    return {f"{prefix}{name}": data for name, data in {**push.files, ORDER_FILE: order}.items()}


def _effect(
    transport: Transport, call: Call, push: Push, *, tip: Tip | None, files: Mapping[str, bytes]
) -> Effect:
    """Return the effect of the push, before anything is written."""
    if tip is None:
        return Effect.CREATED
    if not changes_of(push, tip, files):
        return Effect.UNCHANGED
    written_by = tip.files.get(f"{push.folder}/{ORDER_FILE}".lstrip("/"))
    if written_by is None:
        return Effect.UPDATED
    match = re.fullmatch(rb"(\d{1,20}) (\d{1,9})\n", blob_of(transport, call, written_by))
    there = RunOrder(run_id=int(match[1]), attempt=int(match[2])) if match else None
    return Effect.OUTDATED if there is not None and there > push.order else Effect.UPDATED


def _move(transport: Transport, call: Call, branch: str, *, tip: Tip | None, commit: str) -> bool:
    """Point the branch to a commit; False if another push was faster."""
    try:
        if tip is None:
            make(transport, call, "git/refs", {"ref": f"refs/heads/{branch}", "sha": commit})
        else:
            path = f"{transport.repository}/git/refs/heads/{quote(branch)}"
            body: Json = {"sha": commit, "force": False}
            transport.send(replace(call, verb="PATCH", path=path, body=body, write=True))
    except RefusedError as error:
        if error.status == _CONFLICT:
            return False
        # A repository rule has the same status; then the branch has not moved.
        before = None if tip is None else tip.commit
        if error.status != _INVALID or head_of(transport, call, branch) == before:
            raise
        return False
    return True
