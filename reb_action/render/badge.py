"""A badge for each agent and level: as an SVG, and as JSON for an endpoint of shields.io."""

from dataclasses import dataclass
from typing import Final

from reb_action import documents
from reb_action.judge.levels import spec_of
from reb_action.model.manifest import Level
from reb_action.model.scoreboard import AgentScore, Share
from reb_action.model.verdict import Scoring
from reb_action.render import shares
from reb_action.render.contestants import title_lines
from reb_action.render.escape import clean
from reb_action.render.html.environment import render

CACHE_SECONDS: Final = 3600
"""How long shields.io caches a badge; it rejects less than 300."""
PADDING: Final = 6
# White text on each has a contrast of at least 4.5.
GOOD: Final = "17693f"
PARTLY: Final = "855300"
BAD: Final = "a8231b"
NEUTRAL: Final = "66645e"


@dataclass(frozen=True, kw_only=True, slots=True)
class Badge:
    """Two texts and a colour (`rrggbb`); `title` is the same as a sentence."""

    label: str
    message: str
    colour: str
    title: str


def badge_of(score: AgentScore, level: Level, *, scoring: Scoring = Scoring.STRICT) -> Badge:
    """Return the badge of a contestant at a level; only its name comes from outside."""
    share = score.levels.get(scoring, {}).get(level, Share(passed=0, counted=0))
    name = name_contestant(score)
    label = f"{name} {level}" if scoring is Scoring.STRICT else f"{name} {level} paper"
    message = shares.short(share)
    title = f"{name}, {level} {spec_of(level).title}, {scoring} scoring: {message}"
    return Badge(label=label, message=message, colour=_colour(share), title=title)


def name_contestant(score: AgentScore) -> str:
    """Return agent and model, or the id that the user gave."""
    name = " ".join(title_lines(score)) if score.has_default_name else score.name
    return clean(name, limit=_NAME) or "agent"


def endpoint(badge: Badge) -> bytes:
    """Return the JSON that https://shields.io/badges/endpoint-badge documents."""
    return documents.dump_json(
        {
            "schemaVersion": 1,
            "label": badge.label,
            "message": badge.message,
            "color": badge.colour,
            "cacheSeconds": CACHE_SECONDS,
        }
    )


def svg(badge: Badge) -> bytes:
    """Return the badge as a picture that loads nothing; its text fits in any font."""
    left, right = (measure_width(text) + 2 * PADDING for text in (badge.label, badge.message))
    return f"{render('site/badge.svg.j2', badge=badge, left=left, right=right)}\n".encode()


def _colour(share: Share) -> str:
    # An unseen trial may have failed: the colour is that of the worst case.
    if share.share is None or share.lowest is None:
        return NEUTRAL
    return next(colour for least, colour in _COLOURS if share.lowest >= least)


def measure_width(text: str) -> int:
    """Return the width of a text in pixels, in the font that the badge asks for first."""
    return round(sum(_WIDTHS.get(char, _WIDE if ord(char) > _LATIN else 7) for char in text))


_NAME: Final = 60
_COLOURS: Final = (
    (0.8, GOOD),
    (0.6, "4a6b1e"),
    (0.4, PARTLY),
    (0.2, "9c4414"),
    (0.0, BAD),
)
# Advances in pixels at 11 px, of Verdana and of DejaVu Sans, which was drawn to the same widths.
_GROUPS: Final = {
    3: " ',.IJijl",
    4: "!()-/:;[\\]ft|",
    5: '"r',
    6: "*?FL_`cksz",
    7: "$0123456789EKPSTYabdeghnopquvxy{}",
    8: "ABCDHNRUVXZ",
    9: "#&+<=>GMOQ^w~",
    10: "%",
    11: "@Wm",
}
_WIDTHS: Final = {char: width for width, chars in _GROUPS.items() for char in chars}
_WIDE: Final = 11
_LATIN: Final = 0x24F
