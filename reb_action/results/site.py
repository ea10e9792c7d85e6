"""From artifacts to the leaderboard: what its pages show, and its folder."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from reb_action import documents
from reb_action.errors import UsageError
from reb_action.model.plan import Plan
from reb_action.model.scoreboard import Scoreboard
from reb_action.model.verdict import Verdict
from reb_action.progress import Progress
from reb_action.render.html import site
from reb_action.results import page, scoreboard
from reb_action.results.collection import Collected


def write(folders: Sequence[Path], plan: Plan | None, *, out: Path, tell: Progress) -> int:
    """Write the site of the artifacts in folders; return how many files it has.

    `out` must be new or empty: a page of a former site would stay, and be taken for one of this.
    """
    if out.is_dir() and any(out.iterdir()):
        raise UsageError(f"{out} is not empty; name a new folder, or empty it")
    collected = scoreboard.collected_in(folders, plan, tell=tell)
    number = 0
    for name, data in files(scoreboard.board_of(collected, plan), collected):
        documents.write_bytes(out / name, data)
        number += 1
    return number


def files(made: Scoreboard, collected: Collected) -> Iterator[tuple[str, bytes]]:
    """Yield each file of the site by its path, as it is made."""
    found = {name: seen for name, seen in collected.found.items() if isinstance(seen, Verdict)}
    yield from site.front_files(made, found)
    yield from site.trial_pages(
        page.view(collected.places[name], verdict) for name, verdict in found.items()
    )
