"""A share as people read it: per cent, count, interval, and a bar that shows all three."""

from reb_action.model.scoreboard import Imports, Share
from reb_action.render import shares
from reb_action.render.html.markup import Html, Node, el, spaced


def measured(share: Share | None, *more: Node) -> Html:
    """Return a share with its interval, in words and as a bar."""
    if not shares.planned(share):
        return spaced(el("span", shares.NONE, class_="absent"), *more)
    within = shares.interval(share)
    return el(
        "div",
        el("b", shares.bracket(share)),
        el("small", shares.counts(share), class_="count"),
        bar(share) if share.counted else None,
        el("small", el("span", "95 % interval ", class_="unseen"), within, class_="interval")
        if within
        else None,
        *more,
        class_="share",
    )


def bar(share: Share) -> Html:
    """Return the share as a bar, 100 wide; what is unseen is a paler piece at its end."""
    low, high = share.interval or (0.0, 0.0)
    return el(
        "svg",
        el("rect", width=100, height=6, class_="track"),
        _piece(share.lowest or 0.0, share.share or 0.0, "maybe"),
        _piece(0.0, share.lowest or 0.0, "sure"),
        el("rect", x=f"{low * 100:.1f}", y=8, width=f"{(high - low) * 100:.1f}", height=2),
        viewBox="0 0 100 10",
        preserveAspectRatio="none",
        class_="bar",
        aria_hidden="true",
    )


def imports(found: Imports | None) -> Html:
    """Return how many imports are missing: C0 as the paper counts it, where less is better."""
    if found is None or not found.total:
        return el("span", *shares.imports(found), class_="absent")
    share, counted = shares.imports_share(found), shares.imports_line(found)
    return el("div", el("b", share), el("small", counted, class_="count"), class_="share")


def _piece(start: float, end: float, name: str) -> Html | None:
    if end <= start:
        return None
    x, width = f"{start * 100:.1f}", f"{(end - start) * 100:.1f}"
    return el("rect", x=x, width=width, height=6, class_=name)
