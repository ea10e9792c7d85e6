"""Publishes a run to the leaderboard's branch: fetch, merge, push with a lease, again if lost."""

import hashlib
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from reb_action import documents
from reb_action.errors import GitHubError
from reb_action.model.github import Effect, Written
from reb_action.model.record import Record, RecordedRun
from reb_action.model.scoreboard import Scoreboard
from reb_action.publish import board as boards
from reb_action.publish.board_pages import choose_pages, render_pages
from reb_action.publish.board_state import Leaderboard, State, read_state
from reb_action.publish.content import RunResults
from reb_action.publish.git_branch import Tip, push_commit
from reb_action.results import board_site
from reb_action.results import records as records_of
from reb_action.results.editions import find_editions
from reb_action.score.records import make_board

ATTEMPTS: Final = 12
_LONGEST_WAIT: Final = 15.0
_MARK: Final = (
    b"reb writes this branch; see docs/publishing.md. Files that reb does not know stay.\n"
)
_REMOVED: Final = (
    b"# Trials to remove, one a line: a trial's id or a pattern, and perhaps a run's id.\n"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Base:
    """A scoreboard to compare with, the commit of its newest run, and where it can be read."""

    board: Scoreboard
    commit: str
    url: str


def publish_run(board: Leaderboard, run: RunResults) -> Written:
    """Merge a run into the board."""
    records = make_run_records(run, now=board.clock())
    return publish_records(board, records, dict(render_pages(records, run)))


def publish_records(
    board: Leaderboard, records: tuple[Record, ...], pages: Mapping[str, bytes]
) -> Written:
    """Merge the records of one run; if another push was faster, merge into the new board."""
    for attempt in range(ATTEMPTS):
        state = read_state(board)
        changes = _find_changes(state.tip, make_files(state, records, pages))
        if not changes:
            return Written(effect=Effect.UNCHANGED, url=board.url)
        run = records[0].run
        message = f"Add run {run.order.run_id}.{run.order.attempt} at {run.commit[:12]}"
        if push_commit(
            board.remote,
            board.git_dir,
            board.branch,
            tip=state.tip,
            changes=changes,
            message=message,
        ):
            effect = Effect.CREATED if state.tip is None else Effect.UPDATED
            return Written(effect=effect, url=board.url)
        # Several publishers that wait equally long would meet again.
        board.sleep(min(0.5 * 2**attempt, _LONGEST_WAIT) * random.uniform(0.5, 1.5))  # noqa: S311
    raise GitHubError(
        f"push to the branch {board.branch!r}: it changed concurrently {ATTEMPTS} times;"
        " run the job again"
    )


def read_base(board: Leaderboard, run: RunResults) -> Base | str | None:
    """Return what a run is compared with: the board without the run's own earlier attempts.

    Only records of the run's own editions count. None if there is no board, a text why no record
    of it may be compared.
    """
    state = read_state(board)
    if state.tip is None:
        return None
    editions = find_editions(make_run_records(run, now=0), run.plan)
    run_id = run.occasion.run.run_id
    others = [record for record in state.records if record.run.order.run_id != run_id]
    records = [record for record in others if record.edition in editions]
    if not records:
        return (
            "no record of the leaderboard has this scoring version and these manifests"
            if others
            else None
        )
    newest = max(records, key=lambda record: record.run.order)
    return Base(board=make_board(records)[0], commit=newest.run.commit, url=board.url)


def make_run_records(run: RunResults, *, now: float) -> tuple[Record, ...]:
    """Return the records of a run that is published now (seconds since 1970)."""
    occasion = run.occasion
    stamp = RecordedRun(
        order=occasion.run,
        commit=occasion.commit,
        url=occasion.url,
        published=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now)),
    )
    return records_of.make_records(run.collected, run.board, run.plan, stamp)


def make_files(
    state: State, run: tuple[Record, ...], run_pages: Mapping[str, bytes]
) -> dict[str, bytes | None]:
    """Return the generated files of the branch after a run; None stands for one that stays."""
    added = _with_first_date(run, state.records)
    stamp = added[0].run
    merged = boards.merge(state.records, added, state.history, stamp=stamp, removed=state.removed)
    records = tuple(merged.records.values())
    pages = dict(choose_pages(state.tip, records, run_pages))
    blobs: Mapping[str, str] = {} if state.tip is None else state.tip.blobs
    new = {records_of.name_record(record) for record in added}
    written = {
        path: documents.encode(record, kind="record") if path in new or path not in blobs else None
        for path, record in merged.records.items()
    }
    own = {
        boards.MARKER: _MARK,
        boards.HISTORY: documents.encode(merged.history, kind="history"),
    }
    removed = {} if state.removed else {boards.REMOVED: _REMOVED}
    site = dict(board_site.render_board(records, pages, merged.history))
    return {**site, **pages, **written, **own, **removed}


def _with_first_date(added: tuple[Record, ...], before: tuple[Record, ...]) -> tuple[Record, ...]:
    """Return the records of a run with the date of its first publication."""
    if not added:
        raise GitHubError("the run has no planned trial, so there is nothing to publish")
    stamp = boards.stamp_of(added[0].run, before)
    return tuple(replace(record, run=stamp) for record in added)


def _find_changes(tip: Tip | None, files: Mapping[str, bytes | None]) -> dict[str, bytes | None]:
    """Return the files to write, and as None those to remove; files of others are not touched."""
    blobs: Mapping[str, str] = {} if tip is None else tip.blobs
    changed: dict[str, bytes | None] = {
        path: data
        for path, data in files.items()
        if data is not None and blobs.get(path) != _blob_id(data)
    }
    obsolete = {boards.OLD_MARKER, *filter(board_site.is_generated, blobs)} & set(blobs)
    return {**changed, **dict.fromkeys(obsolete - set(files))}


def _blob_id(data: bytes) -> str:
    """Return git's name for a file's content."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
