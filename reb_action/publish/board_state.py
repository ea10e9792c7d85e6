"""Reads the board from its branch; a board of an older release is migrated."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from reb_action import documents
from reb_action.errors import DocumentError, GitHubError
from reb_action.model.github import RunOrder
from reb_action.model.record import History, Record
from reb_action.publish import board as boards
from reb_action.publish.git_branch import Remote, Tip, fetch_tip, read_files
from reb_action.results import records as records_of


@dataclass(frozen=True, kw_only=True, slots=True)
class Leaderboard:
    """Where a board is: its repository, its branch, and the page that shows it to people."""

    remote: Remote
    branch: str
    url: str
    git_dir: Path
    clock: Callable[[], float] = field(default=time.time)
    sleep: Callable[[float], None] = field(default=time.sleep)


@dataclass(frozen=True, kw_only=True, slots=True)
class State:
    """What a branch has: its tip, records, history and list of removed trials."""

    tip: Tip | None
    records: tuple[Record, ...] = ()
    history: History = field(default_factory=lambda: History(entries=()))
    removed: str = ""


def read_state(board: Leaderboard) -> State:
    """Fetch the branch; raises GitHubError if it is not a board or cannot be read."""
    tip = fetch_tip(board.remote, board.git_dir, board.branch)
    if tip is None:
        return State(tip=None)
    boards.demand_board(tip.blobs, board.branch)
    try:
        return _parse_state(board, tip)
    except DocumentError as error:
        raise GitHubError(f"the leaderboard on {board.branch!r} cannot be read: {error}") from None


def _parse_state(board: Leaderboard, tip: Tip) -> State:
    if boards.MARKER not in tip.blobs:
        return State(tip=tip, records=_migrate(board, tip))
    paths = [path for path in tip.blobs if path.startswith(f"{records_of.FOLDER}/")]
    files = read_files(board.git_dir, tip, [*paths, boards.HISTORY, boards.REMOVED])
    history = files.pop(boards.HISTORY, None)
    removed = files.pop(boards.REMOVED, b"").decode("utf-8", "replace")
    entries = (
        History(entries=())
        if history is None
        else documents.decode(history, History, kind="history", name=boards.HISTORY)
    )
    records = records_of.read_records(files)
    return State(tip=tip, records=records, history=entries, removed=removed)


def _migrate(board: Leaderboard, tip: Tip) -> tuple[Record, ...]:
    names = ("scoreboard.json", "commit.txt", boards.OLD_MARKER)
    files = read_files(board.git_dir, tip, names)
    if "scoreboard.json" not in files:
        raise DocumentError("it has no scoreboard.json; delete the branch to start a new one")
    run_id, _, attempt = files[boards.OLD_MARKER].decode("ascii", "replace").strip().partition(" ")
    order = RunOrder(
        run_id=int(run_id) if run_id.isdecimal() else 0,
        attempt=int(attempt) if attempt.isdecimal() else 1,
    )
    commit = files.get("commit.txt", b"").decode("ascii", "replace").strip()
    return records_of.migrate(files, order, commit=commit, url="", date=tip.date)
