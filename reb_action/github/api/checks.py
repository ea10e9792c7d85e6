"""Check runs: one of a name and external id at a commit, with any number of annotations."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from reb_action.documents import Json
from reb_action.github.api.faults import Fault, Need, RefusedError
from reb_action.github.api.fields import at, maybe_text, number, text
from reb_action.github.api.transport import Call, Transport
from reb_action.model.github import ANNOTATIONS_PER_REQUEST, Annotation, CheckRun, Effect, Written

_EXTERNAL: Final = re.compile(r"reb:(\d{1,20})(?:\.(\d{1,9}))?:(.*)", re.DOTALL)
"""The external id of a check run: the run and the attempt that wrote it, and its subject."""


def upsert(transport: Transport, check: CheckRun) -> Written:
    """Write a completed check run, or update the one with its external id.

    If a newer run has one, nothing is written: GitHub shows the latest. Annotations
    can only be added. So existing annotations count as the first ones of `check`, if all else is
    equal: then a write that failed halfway continues where it stopped. If anything else differs,
    a new check run is made, which has no annotation of the old one. An annotation that GitHub
    refuses is left out; it does not cost the check run.
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
        if there is not None and not _is_equal(there, check) and _count_annotations(there):
            there = None
        if there is None:
            there, done = _create(transport, call, check)
        else:
            done = _count_annotations(there)
            if not _is_equal(there, check):
                _update(transport, call, there, check, ())
        _annotate(transport, call, there, check, check.annotations[done:])
        return Written(effect=effect, url=text(there, "html_url"))

    return transport.until_known(attempt, what=what)


def _create(transport: Transport, call: Call, check: CheckRun) -> tuple[Json, int]:
    """Make a check run; return it, and how many annotations it has."""
    path = f"{transport.repository}/check-runs"
    first = check.annotations[:ANNOTATIONS_PER_REQUEST]
    request = replace(call, verb="POST", path=path)
    try:
        body = {"head_sha": check.head_sha, **_body(check, first)}
        return transport.send(replace(request, body=body)), len(first)
    except RefusedError as error:
        if error.fault is not Fault.REFUSED or not first:
            raise
    body = {"head_sha": check.head_sha, **_body(check, ())}
    return transport.send(replace(request, body=body)), 0


def _annotate(
    transport: Transport,
    call: Call,
    there: Json,
    check: CheckRun,
    annotations: Sequence[Annotation],
) -> None:
    """Add annotations; of a request that is refused each half is tried, down to a single one."""
    for begin in range(0, len(annotations), ANNOTATIONS_PER_REQUEST):
        chunk = annotations[begin : begin + ANNOTATIONS_PER_REQUEST]
        try:
            _update(transport, call, there, check, chunk)
        except RefusedError as error:
            if error.fault is not Fault.REFUSED:
                raise
            middle = len(chunk) // 2
            if middle:
                _annotate(transport, call, there, check, chunk[:middle])
                _annotate(transport, call, there, check, chunk[middle:])


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
    if theirs is None or mine is None or theirs[3] != mine[3]:
        return False
    return _order(theirs) > _order(mine)


def _order(match: re.Match[str]) -> tuple[int, int]:
    return int(match[1]), int(match[2] or 0)


def _is_as_wanted(there: Json, check: CheckRun) -> bool:
    return _is_equal(there, check) and _count_annotations(there) >= len(check.annotations)


def _is_equal(there: Json, check: CheckRun) -> bool:
    """Return whether everything but the annotations is as it should be."""
    return (
        at(there, "conclusion") == check.conclusion
        and at(there, "output", "title") == check.title
        and at(there, "output", "summary") == check.summary
        and maybe_text(there, "output", "text") == check.text
    )


def _count_annotations(there: Json) -> int:
    return number(there, "output", "annotations_count")


def _update(
    transport: Transport,
    call: Call,
    there: Json,
    check: CheckRun,
    annotations: Sequence[Annotation],
) -> None:
    path = f"{transport.repository}/check-runs/{number(there, 'id')}"
    transport.send(replace(call, verb="PATCH", path=path, body=_body(check, annotations)))


def _body(check: CheckRun, annotations: Sequence[Annotation]) -> dict[str, Json]:
    """Return what both requests take, with some of the annotations."""
    output: dict[str, Json] = {"title": check.title, "summary": check.summary}
    if check.text is not None:
        output["text"] = check.text
    if annotations:
        output["annotations"] = [_annotation(one) for one in annotations]
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
