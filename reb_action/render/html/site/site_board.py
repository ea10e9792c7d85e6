"""A scoreboard with what the pages of a site need: addresses, other boards, and the rank."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from reb_action.model.scoreboard import Scoreboard
from reb_action.render.html.site.facts import NO_BOARD_FACTS, BoardFacts
from reb_action.render.html.site.leaderboard import Row, list_rows


@dataclass(frozen=True, kw_only=True, slots=True)
class BoardLink:
    """The address and the title of another board."""

    address: str
    title: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Boards:
    """The other boards of a site: `newest` is None on the front page, `earlier` is empty elsewhere.

    Results of different boards may not be compared.
    """

    newest: str | None = None
    earlier: tuple[BoardLink, ...] = ()


NO_BOARDS: Final = Boards()


@dataclass(frozen=True, kw_only=True, slots=True)
class SiteBoard:
    """A scoreboard with what its pages need.

    `pages` are the addresses of trials' pages, by trial; `rows` are the contestants by rank.
    """

    scoreboard: Scoreboard
    pages: Mapping[str, str]
    boards: Boards
    facts: BoardFacts
    rows: tuple[Row, ...]


def make_site_board(
    scoreboard: Scoreboard,
    pages: Mapping[str, str],
    *,
    boards: Boards = NO_BOARDS,
    facts: BoardFacts = NO_BOARD_FACTS,
) -> SiteBoard:
    """Return a scoreboard with its contestants by rank."""
    rows = list_rows(scoreboard, facts)
    return SiteBoard(scoreboard=scoreboard, pages=pages, boards=boards, facts=facts, rows=rows)
