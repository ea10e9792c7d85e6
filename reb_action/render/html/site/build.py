"""The files of the site, by their path."""

from collections.abc import Iterable, Iterator, Mapping

from reb_action import documents
from reb_action.judge.levels import LEVELS
from reb_action.model.scoreboard import Scoreboard
from reb_action.model.verdict import Scoring
from reb_action.render import badge
from reb_action.render.html.page import View, trial_page
from reb_action.render.html.site.document import (
    BOARD,
    COMPARE,
    DOMAINS,
    FAILURES,
    NUMBERS,
    TRIALS,
    board_page,
    compare_page,
    contestant_pages,
    domains_page,
    failures_page,
    trials_page,
)
from reb_action.render.html.site.facts import NO_BOARD_FACTS, BoardFacts
from reb_action.render.html.site.names import badge_of, page_of, safe_name
from reb_action.render.html.site.site_board import NO_BOARDS, Boards, make_site_board
from reb_action.render.repository_badge import badge_files
from reb_action.score.repositories import slug_of


def build_site(
    scoreboard: Scoreboard, views: Iterable[View] = (), *, facts: BoardFacts = NO_BOARD_FACTS
) -> Mapping[str, bytes]:
    """Return the whole site; a trial without a view is listed without a page."""
    files = dict(trial_pages(views))
    named = {row.trial: page_of(row.trial) for row in scoreboard.trials}
    pages = {trial: address for trial, address in named.items() if address in files}
    return {**dict(front_files(scoreboard, pages, facts=facts)), **files}


def front_files(
    scoreboard: Scoreboard,
    pages: Mapping[str, str] | None = None,
    *,
    boards: Boards = NO_BOARDS,
    facts: BoardFacts = NO_BOARD_FACTS,
) -> Iterator[tuple[str, bytes]]:
    """Yield all files but the trials' pages; `pages` are their addresses, by trial."""
    yield from board_files(scoreboard, pages or {}, boards=boards, facts=facts)
    # GitHub Pages would otherwise run the files of a branch through Jekyll.
    yield ".nojekyll", b""
    for score in scoreboard.agents:
        for spec in LEVELS:
            for scoring in Scoring:
                picture = badge.badge_of(score, spec.level, scoring=scoring)
                mark = "" if scoring is Scoring.STRICT else f"-{scoring}"
                path = f"{badge_of(score, spec.level)}{mark}"
                yield f"{path}.svg", badge.svg(picture)
                yield f"{path}.json", badge.endpoint(picture)
    yield from _repository_badges(scoreboard, facts)


def _repository_badges(scoreboard: Scoreboard, facts: BoardFacts) -> Iterator[tuple[str, bytes]]:
    """Yield a badge of each contestant on each repository that describes itself.

    A corpus has too many repositories, and their READMEs belong to others.
    """
    rows = (row for row in scoreboard.trials if facts.of(row.trial).follows_checkout)
    for repository in dict.fromkeys(row.repository for row in rows):
        for score in scoreboard.agents:
            path = badge_of(score, safe_name(slug_of(repository)))
            picture, numbers = badge_files(scoreboard, score, repository)
            yield f"{path}.svg", picture
            yield f"{path}.json", numbers


def board_files(
    scoreboard: Scoreboard,
    pages: Mapping[str, str],
    *,
    folder: str = "",
    boards: Boards = NO_BOARDS,
    facts: BoardFacts = NO_BOARD_FACTS,
) -> Iterator[tuple[str, bytes]]:
    """Yield the pages of a scoreboard and its numbers, below `folder`."""
    up = "../" * folder.count("/")
    addresses = {trial: f"{up}{address}" for trial, address in pages.items()}
    board = make_site_board(scoreboard, addresses, boards=boards, facts=facts)
    for name, page in (
        (BOARD, board_page),
        (TRIALS, trials_page),
        (DOMAINS, domains_page),
        (FAILURES, failures_page),
        (COMPARE, compare_page),
    ):
        yield f"{folder}{name}", page(board).encode()
    for name, text in contestant_pages(board):
        yield f"{folder}{name}", text.encode()
    yield f"{folder}{NUMBERS}", documents.encode(scoreboard, kind="scoreboard")


def trial_pages(views: Iterable[View]) -> Iterator[tuple[str, bytes]]:
    """Yield the page of each trial: ten thousand pages need not be in memory at once."""
    for view in views:
        page = trial_page(view, root="../")
        yield page_of(view.verdict.trial), page.encode()
