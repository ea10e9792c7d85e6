"""Compares the results of two places: artifacts, a leaderboard, or the scoreboard of a run."""

from pathlib import Path

from reb_action import documents
from reb_action.errors import UsageError
from reb_action.model.comparison import Comparisons
from reb_action.model.manifest import Level
from reb_action.model.record import Record
from reb_action.model.scoreboard import Scoreboard
from reb_action.model.verdict import Scoring
from reb_action.results import board_site, collection, scoreboard
from reb_action.score.comparison import choose_pairs, compare_contestants
from reb_action.score.records import make_generations


def compare_places(
    a: Path,
    b: Path,
    *,
    of_a: str | None = None,
    of_b: str | None = None,
    levels: tuple[Level, ...],
    scoring: Scoring,
) -> Comparisons:
    """Return the comparisons of the results in B with those in A.

    Raises UsageError if a place has no results, or if two boards differ in scoring or manifests.
    """
    _demand_same_editions(a, b)
    board_a = read_place(a)
    board_b = board_a if a == b else read_place(b)
    pairs = choose_pairs(board_a, board_b, of_a=of_a, of_b=of_b)
    return Comparisons(
        scoring=scoring,
        comparisons=tuple(
            compare_contestants(
                board_a, board_b, names=names, levels=levels or tuple(Level), scoring=scoring
            )
            for names in pairs
        ),
    )


def read_place(place: Path) -> Scoreboard:
    """Return the scoreboard of artifacts, of a board, or in a scoreboard.json."""
    if place.is_file():
        return documents.read(place, Scoreboard, kind="scoreboard")
    if board_site.is_board(place):
        return make_generations(board_site.read_board(place))[0].board
    collected = collection.collect((place,))
    if not collected.found:
        raise UsageError(f"there is no trial in {place}; give a folder with artifacts")
    return scoreboard.make_folder_board(collected, None)


def _demand_same_editions(a: Path, b: Path) -> None:
    """Raise UsageError for two boards with records of a repository that may not be compared."""
    if a == b or not (board_site.is_board(a) and board_site.is_board(b)):
        return
    editions_a, editions_b = (_editions(board_site.read_board(place)) for place in (a, b))
    shared = sorted(set(editions_a) & set(editions_b))
    differing = [name for name in shared if editions_a[name] != editions_b[name]]
    if differing:
        raise UsageError(
            f"{differing[0]} has another scoring version or manifest in {a} than in {b}, and so"
            f" have {len(differing) - 1} more repositories; their results cannot be compared"
        )


def _editions(records: tuple[Record, ...]) -> dict[str, object]:
    counting = make_generations(records)[0].records.values()
    return {one.repository: one.edition for one in counting if one.row is not None}
