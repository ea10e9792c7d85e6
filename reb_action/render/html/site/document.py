"""The frame of the site's pages: navigation, headline with what is missing, sections."""

from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from reb_action.model.scoreboard import Scoreboard
from reb_action.render.html.frame import head, sheet
from reb_action.render.html.markup import Html, Node, each, el, join, spaced
from reb_action.render.html.page.view import SHOWN, code, facts, folded
from reb_action.render.html.site.board import board
from reb_action.render.html.site.figures import figures, spent
from reb_action.render.html.site.heat import heat
from reb_action.render.html.site.trials import trials
from reb_action.render.outcomes import DOUBT, MEANS
from reb_action.render.quantities import count
from reb_action.render.shares import UNSEEN, WORDS

BOARD: Final = "index.html"
TRIALS: Final = "trials.html"
NUMBERS: Final = "scoreboard.json"

# Three strata of a pyramid, as an address that needs no request.
_ICON: Final = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E"
    "%3Cpath fill='%2317693f' d='M6.4 5h3.2L8 1zM5 8.5h6L10 6H6zM1 15h14l-1.700-4.500H2.700z'/%3E"
    "%3C/svg%3E"
)


def board_page(scoreboard: Scoreboard, pages: Collection[str]) -> str:
    """Return the page that people link to."""
    return _page(
        "researchenvbench: leaderboard",
        _top("Leaderboard", scoreboard),
        _section("agents", "Agents", board(scoreboard)),
        _section("pyramids", "Pyramids", figures(scoreboard)),
        _section("repositories", "Repositories by level", heat(scoreboard, pages)),
        _section("spent", "What it took", spent(scoreboard)),
        reb=scoreboard.reb,
    )


def trials_page(scoreboard: Scoreboard, pages: Collection[str]) -> str:
    """Return the page that lists every trial."""
    return _page(
        "researchenvbench: all trials",
        _top("All trials", scoreboard),
        _section("trials", "Trials", trials(scoreboard, pages)),
        reb=scoreboard.reb,
    )


def navigation(root: str = "") -> Html:
    """Return the way to the site's pages from a page below `root`."""
    return el(
        "nav",
        el("a", "researchenvbench", href=f"{root}{BOARD}"),
        el("a", "All trials", href=f"{root}{TRIALS}"),
        class_="above",
        aria_label="Site",
    )


def _page(title: str, top: Html, *sections: Html, reb: str) -> str:
    css = f"{sheet()}{_own('site.css')}"
    main = el("main", *sections, id="content")
    skip = el("a", "Skip to the results", href="#content", class_="skip")
    body = el("body", skip, navigation(), top, main, _foot(reb), class_="site")
    start = el("head", head(title, css=css, js=_own("site.js"), icon=_ICON))
    return f"<!doctype html>\n{el('html', start, body, lang='en').text}\n"


@cache
def _own(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def _top(title: str, scoreboard: Scoreboard) -> Html:
    return el(
        "header",
        el("p", "Does it really run?", class_="eyebrow"),
        el("h1", title),
        el("p", _headline(scoreboard), class_="headline"),
        _incomplete(scoreboard),
        class_="head",
    )


def _headline(scoreboard: Scoreboard) -> str:
    repositories = len({one.repository for one in scoreboard.trials})
    seen = len(scoreboard.trials)
    return (
        f"{count(len(scoreboard.agents), 'agent')} on"
        f" {count(repositories, 'repository', 'repositories')}:"
        f" {seen:,} of {count(seen + len(scoreboard.missing), 'trial')} with a verdict."
    )


def _incomplete(scoreboard: Scoreboard) -> Node:
    if scoreboard.complete:
        return None
    missing, invalid = len(scoreboard.missing), len(scoreboard.invalid)
    told = [
        f"{count(missing, 'trial is', 'trials are')} missing" if missing else "",
        f"{count(invalid, 'trial is', 'trials are')} invalid" if invalid else "",
    ]
    return el(
        "div",
        el(
            "p",
            spaced(
                el("strong", "This comparison is incomplete."),
                f"{_and(told)}.",
                UNSEEN,
            ),
        ),
        _named("Missing", scoreboard.missing),
        _named("Invalid", scoreboard.invalid),
        class_="incomplete",
    )


def _and(parts: list[str]) -> str:
    return " and ".join(part for part in parts if part)


def _named(word: str, trials: Mapping[str, str]) -> Node:
    if not trials:
        return None
    shown = tuple(trials.items())[:SHOWN]
    listed = each("li", (join(code(name), f": {why}") for name, why in shown))
    more = el("li", f"and {len(trials) - SHOWN:,} more") if len(trials) > SHOWN else None
    return folded(f"{word}, to run again: {len(trials):,}", el("ul", listed, more))


def _section(name: str, title: str, content: Node) -> Html:
    return el("section", el("h2", title), content, id=name)


def _foot(reb: str) -> Html:
    return el(
        "footer",
        el(
            "p",
            "Where the intervals of two shares overlap, the difference may be chance.",
        ),
        facts(
            ("passed", "The level holds."),
            ("failed", "It does not."),
            ("blocked", "No usable report or interpreter, so nothing could be observed; counts 0."),
            ("n/a", "The manifest says so, with a reason; not counted."),
            ("invalid", "Not measured, or a fault of ours or the runner's; not counted."),
            *WORDS.items(),
            (DOUBT, MEANS),
        ),
        el(
            "p", spaced(f"Put together by reb {reb}.", el("a", "All numbers as JSON", href=NUMBERS))
        ),
    )
