"""The pages of the site but for those of trials."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from reb_action.corpus.domains import FAMILIES, OTHER
from reb_action.judge.levels import LEVELS
from reb_action.model.manifest import Outcome
from reb_action.model.quantity import count
from reb_action.model.scoreboard import Scoreboard, TrialRow
from reb_action.render import shares
from reb_action.render.contestants import title_lines, title_of
from reb_action.render.escape import clean
from reb_action.render.html.environment import render
from reb_action.render.html.frame import STYLE, Frame
from reb_action.render.html.site.board import PAPER_COLUMNS, paper_row, published_row
from reb_action.render.html.site.compare import make_compare_page
from reb_action.render.html.site.contestants import (
    HISTORY_COLUMNS,
    ContestantView,
    list_contestants,
)
from reb_action.render.html.site.failures import (
    CAUSE_COLUMNS,
    GROUP_COLUMNS,
    count_causes,
    count_groups,
    list_groups,
)
from reb_action.render.html.site.families import FAMILY_COLUMNS, list_families, overview
from reb_action.render.html.site.figures import SPENT_COLUMNS, spent_fields
from reb_action.render.html.site.heat import HEAT_COLUMNS
from reb_action.render.html.site.leaderboard import COLUMNS
from reb_action.render.html.site.names import contestant_page
from reb_action.render.html.site.plots import list_drops, plot_cost
from reb_action.render.html.site.site_board import SiteBoard
from reb_action.render.html.site.table import Column
from reb_action.render.html.site.trials import TRIAL_COLUMNS, agents, group_lines, trial_lines
from reb_action.render.outcomes import UNQUALIFIED, UNQUALIFIED_MEANING
from reb_action.render.quantities import percent

BOARD: Final = "index.html"
TRIALS: Final = "trials.html"
DOMAINS: Final = "domains.html"
FAILURES: Final = "failures.html"
COMPARE: Final = "compare.html"
FILES: Final = (BOARD, TRIALS, DOMAINS, FAILURES, COMPARE)
NUMBERS: Final = "scoreboard.json"

# Three strata of a pyramid, as an address that needs no request.
_ICON: Final = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E"
    "%3Cpath fill='%2317693f' d='M6.4 5h3.2L8 1zM5 8.5h6L10 6H6zM1 15h14l-1.700-4.500H2.700z'/%3E"
    "%3C/svg%3E"
)


def board_page(board: SiteBoard) -> str:
    """Return the leaderboard."""
    scoreboard, ranking = board.scoreboard, tuple(row.ranked for row in board.rows)
    published = scoreboard.published
    return _page(
        board,
        "site/board.html.j2",
        "researchenvbench: leaderboard",
        columns=COLUMNS,
        rows=board.rows,
        paper_columns=PAPER_COLUMNS,
        paper_rows=(
            *(paper_row(ranked.score) for ranked in ranking),
            *map(published_row, published),
        ),
        sources=tuple(dict.fromkeys(row.source for row in published)),
        plot=plot_cost(ranking),
        drops=list_drops(ranking),
        spent_columns=SPENT_COLUMNS,
        spent_rows=tuple((ranked.score, spent_fields(ranked.score)) for ranked in ranking),
    )


def trials_page(board: SiteBoard) -> str:
    """Return the page that lists every trial."""
    lines = trial_lines(board.scoreboard, board.pages, board.facts)
    return _page(
        board,
        "site/trials.html.j2",
        "researchenvbench: all trials",
        agents=agents(board.scoreboard),
        families=(*FAMILIES, OTHER),
        causes=tuple(dict.fromkeys(row.cause for row in count_causes(board.scoreboard.trials))),
        outcomes=tuple(Outcome),
        trial_columns=TRIAL_COLUMNS,
        groups=group_lines(lines),
    )


def domains_page(board: SiteBoard) -> str:
    """Return the page of results by domain."""
    sections = list_families(board.scoreboard, board.rows, board.facts)
    return _page(
        board,
        "site/domains.html.j2",
        "researchenvbench: results by domain",
        sections=sections,
        overview=overview(sections, board.rows),
        overview_columns=(
            Column(name="contestant"),
            *(Column(name=one.family.title, first="descending") for one in sections),
        ),
        family_columns=FAMILY_COLUMNS,
    )


def failures_page(board: SiteBoard) -> str:
    """Return the page of what failed and why."""
    trials: defaultdict[str, list[TrialRow]] = defaultdict(list)
    for trial in board.scoreboard.trials:
        trials[trial.name].append(trial)
    return _page(
        board,
        "site/failures.html.j2",
        "researchenvbench: what failed and why",
        groups=list_groups(board.scoreboard),
        cause_columns=CAUSE_COLUMNS,
        group_columns=GROUP_COLUMNS,
        group_rows=tuple((row, count_groups(trials[row.ranked.score.name])) for row in board.rows),
    )


def compare_page(board: SiteBoard) -> str:
    """Return the page that compares contestants."""
    return _page(
        board,
        "site/compare.html.j2",
        "researchenvbench: compare contestants",
        script="site/compare.js",
        compare=make_compare_page(board.scoreboard, board.rows),
    )


def contestant_pages(board: SiteBoard) -> Iterator[tuple[str, str]]:
    """Yield the address and the page of each contestant."""
    views = list_contestants(board.scoreboard, board.rows, board.pages, board.facts)
    for view in views:
        yield (
            view.page,
            _page(
                board,
                "site/contestant.html.j2",
                f"researchenvbench: {view.title}",
                root="../",
                headline=_place(view, len(board.rows)),
                view=view,
                history_columns=HISTORY_COLUMNS,
                heat_columns=HEAT_COLUMNS,
                cause_columns=CAUSE_COLUMNS,
            ),
        )


def _page(
    board: SiteBoard,
    template: str,
    title: str,
    *,
    root: str = "",
    script: str = "site/site.js",
    headline: str | None = None,
    **values: object,
) -> str:
    page = render(
        template,
        frame=Frame(
            title=clean(title, limit=200),
            styles=(STYLE, "site/site.css"),
            script=script,
            icon=_ICON,
            root=root,
        ),
        board=board.scoreboard,
        boards=board.boards,
        headline=headline or _headline(board.scoreboard),
        gaps=_gaps(board.scoreboard),
        levels=LEVELS,
        unseen=shares.UNSEEN,
        legend={**shares.WORDS, UNQUALIFIED: UNQUALIFIED_MEANING},
        numbers=NUMBERS,
        title_lines=title_lines,
        title_of=title_of,
        contestant_page=contestant_page,
        **values,
    )
    return f"{page}\n"


def _headline(scoreboard: Scoreboard) -> str:
    repositories = len({trial.repository for trial in scoreboard.trials})
    judged = len(scoreboard.trials)
    return (
        f"{count(len(scoreboard.agents), 'contestant')} on"
        f" {count(repositories, 'repository', 'repositories')}:"
        f" {judged:,} of {count(judged + len(scoreboard.missing), 'trial')} with a verdict."
    )


def _place(view: ContestantView, contestants: int) -> str:
    ranked = view.row.ranked
    ends = (ranked.passed.lowest, ranked.passed.share)
    passed = " to ".join(dict.fromkeys(percent(end) for end in ends if end is not None))
    result = f"{passed} % of all levels passed" if passed else "nothing was measured"
    return f"Rank {ranked.rank} of {contestants:,}: {result}, by the strict scoring."


def _gaps(scoreboard: Scoreboard) -> str:
    missing, invalid = len(scoreboard.missing), len(scoreboard.invalid)
    parts = (
        f"{count(missing, 'trial is', 'trials are')} missing" if missing else "",
        f"{count(invalid, 'trial is', 'trials are')} invalid" if invalid else "",
    )
    return " and ".join(part for part in parts if part)
