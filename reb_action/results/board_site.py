"""The site of a board: its pages from records only, and the records of a board on disk."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

from reb_action import documents
from reb_action.corpus import manifests, paper
from reb_action.errors import RebError, UsageError
from reb_action.model.record import UNKNOWN_SCORING, History, Record
from reb_action.model.scoreboard import Published
from reb_action.render.html import site
from reb_action.render.html.site import BoardLink, Boards
from reb_action.results import records as records_of
from reb_action.results.board_facts import NO_HISTORY, facts_of_records
from reb_action.score.records import Generation, make_generations

_EARLIER: Final = "earlier"


def is_board(folder: Path) -> bool:
    """Return whether a folder is a checkout of a leaderboard's branch."""
    return (folder / records_of.FOLDER).is_dir()


def read_board(folder: Path) -> tuple[Record, ...]:
    """Return the records of a board on disk; raises DocumentError."""
    paths = sorted((folder / records_of.FOLDER).rglob("*.json"))
    named = {path.relative_to(folder).as_posix(): documents.read_bytes(path) for path in paths}
    records = records_of.read_records(named)
    if not records:
        raise UsageError(f"{folder} has no records; give a checkout of the leaderboard's branch")
    return records


def read_history(folder: Path) -> History:
    """Return the publications of a board on disk, none if it has no history; see `read_board`."""
    path = folder / records_of.HISTORY
    return documents.read(path, History, kind="history") if path.is_file() else NO_HISTORY


def render_board(
    records: tuple[Record, ...], pages: Collection[str], history: History = NO_HISTORY
) -> Iterator[tuple[str, bytes]]:
    """Yield the files of the site but for trials' pages; `pages` are the addresses of these."""
    generations = make_generations(records, published=_published(records))
    for number, generation in enumerate(generations):
        addresses = {
            trial: address
            for trial, record in generation.records.items()
            if (address := records_of.name_page(record)) in pages
        }
        facts = facts_of_records(generation.records, history)
        if number == 0:
            links = tuple(_link(one) for one in generations[1:])
            yield from site.front_files(
                generation.board, addresses, boards=Boards(earlier=links), facts=facts
            )
        else:
            boards = Boards(newest=f"../../{site.BOARD}")
            folder = _folder(generation)
            yield from site.board_files(
                generation.board, addresses, folder=folder, boards=boards, facts=facts
            )


def is_generated(path: str) -> bool:
    """Return whether a file of a branch is written by reb; all others belong to somebody else."""
    folders = (
        *("badges/", "contestants/", f"{_EARLIER}/"),
        *(f"{records_of.PAGES}/", f"{records_of.FOLDER}/"),
    )
    files = (*site.FILES, "scoreboard.json", ".nojekyll", "commit.txt")
    return path in files or path.startswith(folders)


def _folder(generation: Generation) -> str:
    return f"{_EARLIER}/{generation.scoring}-{generation.number}/"


def _link(generation: Generation) -> BoardLink:
    return BoardLink(address=f"{_folder(generation)}{site.BOARD}", title=_title(generation))


def _title(generation: Generation) -> str:
    if generation.scoring == UNKNOWN_SCORING:
        return "from before there were records"
    changed = (
        "" if generation.number == 0 else f", {generation.number} changes of the manifests ago"
    )
    return f"scoring {generation.scoring}{changed}"


def _published(records: tuple[Record, ...]) -> tuple[Published, ...]:
    """Return the paper's rows if a repository of its corpus was measured."""
    return paper.rows() if any(map(_is_of_corpus, {one.repository for one in records})) else ()


def _is_of_corpus(repository: str) -> bool:
    try:
        return bool(manifests.find(repository))
    except RebError:
        return False
