"""A share as people read it: per cent, count, interval, and a bar that shows all three."""

from reb_action.model.scoreboard import Imports, Share
from reb_action.render import shares
from reb_action.render.markup import Html, Node, el, join, spaced
from reb_action.render.page.view import count


def percent(share: float) -> str:
    """Return a share from 0 to 1 in whole per cent; none and all are said only of none and all."""
    return f"{shares.percent(share)} %"


def between(low: str, high: str) -> str:
    """Return two shares as a range; as one where they read the same."""
    return high if low == high else f"{low.removesuffix(' %')}\N{EN DASH}{high}"


def bracket(share: Share) -> str:
    """Return the share; a bracket from its lowest where something is unseen."""
    if share.share is None:
        return "not measured" if share.unseen else "n/a"
    if not share.unseen or share.lowest is None:
        return percent(share.share)
    return between(percent(share.lowest), percent(share.share))


def counted(share: Share) -> str:
    """Return the share as a count."""
    told = f"{share.passed} of {share.counted}"
    return f"{told}, {share.unseen} unseen" if share.unseen else told


def interval(share: Share) -> str | None:
    """Return the 95 % interval in per cent."""
    if share.interval is None:
        return None
    low, high = share.interval
    return between(f"{low * 100:.0f} %", f"{high * 100:.0f} %")


def measured(share: Share | None, *more: Node) -> Html:
    """Return a share with its interval, in words and as a bar."""
    if share is None or (not share.counted and not share.unseen):
        return spaced(el("span", "n/a", class_="absent"), *more)
    within = interval(share)
    return el(
        "div",
        el("b", bracket(share)),
        el("small", counted(share), class_="count"),
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
    unknown = f"{count(found.unknown, 'trial')} unknown" if found and found.unknown else None
    if found is None or not found.total:
        return el("span", unknown or "n/a", class_="absent")
    ends = (found.missing, worst(found))
    share = between(*(f"{end / found.total * 100:.1f} %" for end in ends))
    told = f"{between(*(f'{end:,}' for end in ends))} of {count(found.total, 'import')}"
    return el(
        "div",
        el("b", share),
        el("small", join(told, f", {unknown}" if unknown else None), class_="count"),
        class_="share",
    )


def worst(found: Imports) -> int:
    """Return the most imports that may be missing."""
    return found.missing if found.most is None else found.most


def _piece(start: float, end: float, name: str) -> Html | None:
    if end <= start:
        return None
    x, width = f"{start * 100:.1f}", f"{(end - start) * 100:.1f}"
    return el("rect", x=x, width=width, height=6, class_=name)
