"""Writes the static leaderboard site from artifacts."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from reb_action import documents
from reb_action.errors import UsageError
from reb_action.model.plan import Plan
from reb_action.model.progress import Progress
from reb_action.model.scoreboard import Scoreboard
from reb_action.model.verdict import Verdict
from reb_action.render.html import site
from reb_action.results import board_site, page, scoreboard
from reb_action.results import records as records_of
from reb_action.results.board_facts import NO_HISTORY, facts_of_artifacts
from reb_action.results.collection import Collected


def write_site(folders: Sequence[Path], plan: Plan | None, *, out: Path, tell: Progress) -> int:
    """Write the site of artifacts or boards in folders; return its number of files.

    `out` must be new or empty: pages of an earlier site would remain in it.
    """
    if out.is_dir() and any(out.iterdir()):
        raise UsageError(f"{out} is not empty; choose a new folder, or empty it")
    if any(map(board_site.is_board, folders)):
        files = _render_board(folders, plan)
    else:
        collected = scoreboard.collect_folders(folders, plan, tell=tell)
        files = render_files(scoreboard.make_folder_board(collected, plan), collected)
    count = 0
    for name, data in files:
        documents.write_bytes(out / name, data)
        count += 1
    return count


def _render_board(folders: Sequence[Path], plan: Plan | None) -> Iterator[tuple[str, bytes]]:
    """Yield the site of boards on disk, with the pages of trials that they have."""
    if plan is not None or not all(map(board_site.is_board, folders)):
        raise UsageError(
            "give folders of artifacts, or checkouts of a leaderboard's branch without --plan"
        )
    records = tuple(record for folder in folders for record in board_site.read_board(folder))
    pages = {
        address: folder / address
        for folder in folders
        for address in map(records_of.name_page, records)
        if (folder / address).is_file()
    }
    # Several boards have no common history.
    history = board_site.read_history(folders[0]) if len(folders) == 1 else NO_HISTORY
    yield from board_site.render_board(records, pages, history)
    yield from ((address, documents.read_bytes(path)) for address, path in pages.items())


def render_files(board: Scoreboard, collected: Collected) -> Iterator[tuple[str, bytes]]:
    """Yield the path and content of each file of the site."""
    verdicts = {
        name: result for name, result in collected.found.items() if isinstance(result, Verdict)
    }
    pages = {name: site.page_of(name) for name in verdicts}
    facts = facts_of_artifacts(collected, verdicts)
    yield from site.front_files(board, pages, facts=facts)
    yield from site.trial_pages(
        page.make_view(collected.places[name], verdict) for name, verdict in verdicts.items()
    )
