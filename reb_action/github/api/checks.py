"""Check runs: one of a name and external id at a commit, with any number of annotations."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from reb_action.documents import Json
from reb_action.github.api.faults import Need
from reb_action.github.api.fields import at, maybe_text, number, text
from reb_action.github.api.transport import Call, Transport
from reb_action.model.github import ANNOTATIONS_PER_REQUEST, Annotation, CheckRun, Effect, Written

_EXTERNAL: Final = re.compile(r"reb:(\d{1,20}):(.*)", re.DOTALL)
"""The parts of an external id: the run that wrote the check run, and its subject."""


def upsert(transport: Transport, check: CheckRun) -> Written:
    """Write a completed check run, or update the one with its external id.

    If a newer run has written one, nothing is written, because GitHub shows the latest one.
    Annotations can only be added. The existing ones count as the first ones of `check`, so an
    interrupted write continues where it stopped.
    """
    what = f"write the check run {check.name!r}"
    call = Call(path="", what=what, need=Need.CHECKS_WRITE, write=True, again=False)

    def attempt() -> Written:
        named = _named(transport, call, check)
        newer = next((one for one in named if _is_newer(one, check)), None)
        if newer is not None:
            return Written(effect=Effect.OUTDATED, url=text(newer, "html_url"))
        same = [one for one in named if at(one, "external_id") == check.external_id]
        there = max(same, key=lambda one: number(one, "id"), default=None)
        if there is not None and _is_as_wanted(there, check):
            return Written(effect=Effect.UNCHANGED, url=text(there, "html_url"))
        effect = Effect.CREATED if there is None else Effect.UPDATED
        if there is None:
            path = f"{transport.repository}/check-runs"
            body = {"head_sha": check.head_sha, **_body(check, skip=0)}
            there = transport.send(replace(call, verb="POST", path=path, body=body))
            done = ANNOTATIONS_PER_REQUEST
        else:
            done = number(there, "output", "annotations_count")
            _update(transport, call, there, check, skip=done)
            done += ANNOTATIONS_PER_REQUEST
        for skip in range(done, len(check.annotations), ANNOTATIONS_PER_REQUEST):
            _update(transport, call, there, check, skip=skip)
        return Written(effect=effect, url=text(there, "html_url"))

    return transport.until_known(attempt, what=what)


def _named(transport: Transport, call: Call, check: CheckRun) -> Sequence[Json]:
    """Return the check runs of this name at its commit."""
    path = f"{transport.repository}/commits/{check.head_sha}/check-runs"
    query = (("check_name", check.name), ("filter", "all"))
    asked = replace(call, path=path, query=query, write=False, again=True)
    return [one for one in transport.pages(asked, "check_runs") if at(one, "name") == check.name]


def _is_newer(there: Json, check: CheckRun) -> bool:
    """Return whether a later run wrote a check run on the same thing."""
    theirs = _EXTERNAL.fullmatch(maybe_text(there, "external_id") or "")
    mine = _EXTERNAL.fullmatch(check.external_id)
    if theirs is None or mine is None or theirs[2] != mine[2]:
        return False
    return int(theirs[1]) > int(mine[1])


def _is_as_wanted(there: Json, check: CheckRun) -> bool:
    return (
        at(there, "conclusion") == check.conclusion
        and at(there, "output", "title") == check.title
        and at(there, "output", "summary") == check.summary
        and maybe_text(there, "output", "text") == check.text
        and number(there, "output", "annotations_count") >= len(check.annotations)
    )


def _update(transport: Transport, call: Call, there: Json, check: CheckRun, *, skip: int) -> None:
    path = f"{transport.repository}/check-runs/{number(there, 'id')}"
    transport.send(replace(call, verb="PATCH", path=path, body=_body(check, skip=skip)))


def _body(check: CheckRun, *, skip: int) -> dict[str, Json]:
    """Return what both requests take, with the annotations after the first `skip`."""
    chosen = check.annotations[skip : skip + ANNOTATIONS_PER_REQUEST]
    output: dict[str, Json] = {"title": check.title, "summary": check.summary}
    if check.text is not None:
        output["text"] = check.text
    if chosen:
        output["annotations"] = [_annotation(one) for one in chosen]
    body: dict[str, Json] = {
        "name": check.name,
        "external_id": check.external_id,
        "status": "completed",
        "conclusion": str(check.conclusion),
        "output": output,
    }
    if check.details_url is not None:
        body["details_url"] = check.details_url
    return body


def _annotation(one: Annotation) -> Json:
    return {
        "path": one.path,
        "start_line": one.start_line,
        "end_line": one.end_line,
        "annotation_level": str(one.level),
        "message": one.message,
        "title": one.title,
    }
