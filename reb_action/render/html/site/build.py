"""The files of the site, by their path."""

from collections.abc import Collection, Iterable, Iterator, Mapping

from reb_action import documents
from reb_action.judge.levels import LEVELS
from reb_action.model.scoreboard import Scoreboard
from reb_action.model.verdict import Scoring
from reb_action.render import badge
from reb_action.render.html.page import View, trial_page
from reb_action.render.html.site.document import BOARD, NUMBERS, TRIALS, board_page, trials_page
from reb_action.render.html.site.names import badge_of, page_of


def build_site(scoreboard: Scoreboard, views: Iterable[View] = ()) -> Mapping[str, bytes]:
    """Return the whole site; a trial without a view is listed without a page."""
    pages = dict(trial_pages(views))
    linked = {row.trial for row in scoreboard.trials if page_of(row.trial) in pages}
    return {**dict(front_files(scoreboard, linked)), **pages}


def front_files(
    scoreboard: Scoreboard, linked: Collection[str] = ()
) -> Iterator[tuple[str, bytes]]:
    """Yield all files but the trials' pages; `linked` are the trials that will have a page."""
    yield BOARD, board_page(scoreboard, linked).encode()
    yield TRIALS, trials_page(scoreboard, linked).encode()
    # GitHub Pages would otherwise run the files of a branch through Jekyll.
    yield ".nojekyll", b""
    yield NUMBERS, documents.encode(scoreboard, kind="scoreboard")
    for score in scoreboard.agents:
        for spec in LEVELS:
            for scoring in Scoring:
                picture = badge.badge_of(score, spec.level, scoring=scoring)
                mark = "" if scoring is Scoring.STRICT else f"-{scoring}"
                path = f"{badge_of(score, spec.level)}{mark}"
                yield f"{path}.svg", badge.svg(picture)
                yield f"{path}.json", badge.endpoint(picture)


def trial_pages(views: Iterable[View]) -> Iterator[tuple[str, bytes]]:
    """Yield the page of each trial: ten thousand pages need not be in memory at once."""
    for view in views:
        page = trial_page(view, root="../")
        yield page_of(view.verdict.trial), page.encode()
