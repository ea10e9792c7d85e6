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
from reb_action.results import page, scoreboard
from reb_action.results.collection import Collected


def write_site(folders: Sequence[Path], plan: Plan | None, *, out: Path, tell: Progress) -> int:
    """Write the site of the artifacts in folders; return its number of files.

    `out` must be new or empty: pages of an earlier site would remain in it.
    """
    if out.is_dir() and any(out.iterdir()):
        raise UsageError(f"{out} is not empty; choose a new folder, or empty it")
    collected = scoreboard.collect_folders(folders, plan, tell=tell)
    count = 0
    for name, data in render_files(scoreboard.make_folder_board(collected, plan), collected):
        documents.write_bytes(out / name, data)
        count += 1
    return count


def render_files(board: Scoreboard, collected: Collected) -> Iterator[tuple[str, bytes]]:
    """Yield the path and content of each file of the site."""
    verdicts = {
        name: result for name, result in collected.found.items() if isinstance(result, Verdict)
    }
    yield from site.front_files(board, verdicts)
    yield from site.trial_pages(
        page.make_view(collected.places[name], verdict) for name, verdict in verdicts.items()
    )
