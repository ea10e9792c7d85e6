"""The two pages of the site: the leaderboard, and the table of all trials."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from reb_action.judge.levels import LEVELS
from reb_action.model.manifest import Outcome
from reb_action.model.quantity import count
from reb_action.model.scoreboard import Scoreboard
from reb_action.render import shares
from reb_action.render.contestants import title_lines, title_of
from reb_action.render.html.environment import render
from reb_action.render.html.frame import STYLE, Frame
from reb_action.render.html.site.board import (
    PAPER_COLUMNS,
    STRICT_COLUMNS,
    paper_row,
    published_row,
    strict_fields,
)
from reb_action.render.html.site.figures import SPENT_COLUMNS, describe, spent_fields, strata
from reb_action.render.html.site.heat import HEAT_COLUMNS, heat_maps
from reb_action.render.html.site.names import badge_of, folder_of
from reb_action.render.html.site.trials import TRIAL_COLUMNS, agents, trial_lines
from reb_action.render.outcomes import UNQUALIFIED, UNQUALIFIED_MEANING

BOARD: Final = "index.html"
TRIALS: Final = "trials.html"
NUMBERS: Final = "scoreboard.json"

# Three strata of a pyramid, as an address that needs no request.
_ICON: Final = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E"
    "%3Cpath fill='%2317693f' d='M6.4 5h3.2L8 1zM5 8.5h6L10 6H6zM1 15h14l-1.700-4.500H2.700z'/%3E"
    "%3C/svg%3E"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class BoardLink:
    """The address of another board and what it has."""

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


def board_page(
    scoreboard: Scoreboard, pages: Mapping[str, str], *, boards: Boards = NO_BOARDS
) -> str:
    """Return the leaderboard; `pages` are the addresses of trials' pages, by trial."""
    scores, published = scoreboard.agents, scoreboard.published
    return _page(
        "site/board.html.j2",
        "researchenvbench: leaderboard",
        scoreboard,
        boards,
        strict_columns=STRICT_COLUMNS,
        strict_rows=tuple((score, strict_fields(score)) for score in scores),
        paper_columns=PAPER_COLUMNS,
        paper_rows=(*map(paper_row, scores), *map(published_row, published)),
        sources=tuple(dict.fromkeys(row.source for row in published)),
        pyramids=tuple((score, strata(score), describe(score)) for score in scores),
        heat_columns=HEAT_COLUMNS,
        heat_maps=heat_maps(scoreboard, pages),
        spent_columns=SPENT_COLUMNS,
        spent_rows=tuple((score, spent_fields(score)) for score in scores),
        folder_of=folder_of,
        title_lines=title_lines,
        title_of=title_of,
        badge_of=badge_of,
    )


def trials_page(
    scoreboard: Scoreboard, pages: Mapping[str, str], *, boards: Boards = NO_BOARDS
) -> str:
    """Return the page that lists every trial."""
    return _page(
        "site/trials.html.j2",
        "researchenvbench: all trials",
        scoreboard,
        boards,
        agents=agents(scoreboard),
        outcomes=tuple(Outcome),
        trial_columns=TRIAL_COLUMNS,
        trial_lines=trial_lines(scoreboard, pages),
    )


def _page(
    template: str, title: str, scoreboard: Scoreboard, boards: Boards, **values: object
) -> str:
    page = render(
        template,
        frame=Frame(
            title=title,
            styles=(STYLE, "site/site.css"),
            script="site/site.js",
            icon=_ICON,
            root="",
        ),
        board=scoreboard,
        boards=boards,
        headline=_headline(scoreboard),
        gaps=_gaps(scoreboard),
        levels=LEVELS,
        unseen=shares.UNSEEN,
        legend={**shares.WORDS, UNQUALIFIED: UNQUALIFIED_MEANING},
        numbers=NUMBERS,
        **values,
    )
    return f"{page}\n"


def _headline(scoreboard: Scoreboard) -> str:
    repositories = len({trial.repository for trial in scoreboard.trials})
    judged = len(scoreboard.trials)
    return (
        f"{count(len(scoreboard.agents), 'agent')} on"
        f" {count(repositories, 'repository', 'repositories')}:"
        f" {judged:,} of {count(judged + len(scoreboard.missing), 'trial')} with a verdict."
    )


def _gaps(scoreboard: Scoreboard) -> str:
    missing, invalid = len(scoreboard.missing), len(scoreboard.invalid)
    parts = (
        f"{count(missing, 'trial is', 'trials are')} missing" if missing else "",
        f"{count(invalid, 'trial is', 'trials are')} invalid" if invalid else "",
    )
    return " and ".join(part for part in parts if part)
