"""A badge of one repository for its README: each level with a mark that needs no colour."""

from dataclasses import dataclass
from typing import Final

from reb_action.model.manifest import Level, Outcome, contestant_of
from reb_action.model.scoreboard import AgentScore, Scoreboard, Share, TrialRow
from reb_action.model.verdict import Scoring
from reb_action.render import shares
from reb_action.render.badge import (
    BAD,
    GOOD,
    NEUTRAL,
    PADDING,
    PARTLY,
    Badge,
    endpoint,
    measure_width,
    name_contestant,
    svg,
)
from reb_action.render.escape import clean
from reb_action.render.html.environment import render
from reb_action.score.repositories import slug_of

LABEL: Final = "environment"
_COUNTED: Final = (Outcome.PASSED, Outcome.FAILED, Outcome.BLOCKED)
_GAP: Final = 4
_DRAWN: Final = 8
"""Width of a mark that is drawn: fonts may lack a glyph for it."""
_TICK: Final = "l3 3 5-6"
_CROSS: Final = "m1-3l6 6m0-6l-6 6"
_DASH: Final = "h8"


@dataclass(frozen=True, kw_only=True, slots=True)
class Segment:
    """One level: its mark is `drawn` (SVG path data) or a short `text`; x and width in pixels."""

    level: Level
    word: str
    colour: str
    drawn: str = ""
    text: str = ""
    x: int = 0

    @property
    def level_width(self) -> int:
        """The width of the level's name."""
        return measure_width(self.level)

    @property
    def text_width(self) -> int:
        """The width of the mark."""
        return measure_width(self.text) if self.text else _DRAWN

    @property
    def mark_x(self) -> int:
        """Where the mark begins."""
        return self.x + PADDING + self.level_width + _GAP

    @property
    def end(self) -> int:
        """Where the segment ends."""
        return self.mark_x + self.text_width + PADDING


def list_segments(board: Scoreboard, score: AgentScore, repository: str) -> tuple[Segment, ...]:
    """Return the levels of a contestant on a repository, by the strict scoring.

    A level that no trial requested is left out. An unseen trial is never a pass.
    """
    rows = [row for row in board.trials if (row.name, row.repository) == (score.name, repository)]
    names = {score.name, *(contestant_of(row.trial) for row in rows)}
    missing = sum(
        trial.rsplit(".", 2)[0] == slug_of(repository) and contestant_of(trial) in names
        for trial in board.missing
    )
    segments: list[Segment] = []
    x = measure_width(LABEL) + 2 * PADDING
    for level in Level:
        if any(level in row.cells for row in rows):
            segments.append(_make_segment(level, _count(rows, level, missing), x))
            x = segments[-1].end
    return tuple(segments)


def badge_files(board: Scoreboard, score: AgentScore, repository: str) -> tuple[bytes, bytes]:
    """Return the badge of a contestant on a repository: an SVG, and JSON for shields.io."""
    segments = list_segments(board, score, repository)
    badge = _summarise(segments, score, repository)
    if not segments:
        return svg(badge), endpoint(badge)
    picture = render("site/repository_badge.svg.j2", badge=badge, segments=segments)
    return f"{picture}\n".encode(), endpoint(badge)


def _count(rows: list[TrialRow], level: Level, missing: int) -> Share:
    outcomes = [row.cells[level].by(Scoring.STRICT) for row in rows if level in row.cells]
    return Share(
        passed=outcomes.count(Outcome.PASSED),
        counted=sum(outcome in _COUNTED for outcome in outcomes),
        unseen=outcomes.count(Outcome.INVALID) + missing,
    )


def _make_segment(level: Level, share: Share, x: int) -> Segment:
    planned = share.counted + share.unseen
    if not planned:
        return Segment(level=level, word="n/a", colour=NEUTRAL, drawn=_DASH, x=x)
    if not share.counted:
        return Segment(level=level, word=shares.short(share), colour=NEUTRAL, text="?", x=x)
    if not share.passed:
        return Segment(level=level, word="failed", colour=BAD, drawn=_CROSS, x=x)
    if share.passed == planned:
        return Segment(level=level, word="passed", colour=GOOD, drawn=_TICK, x=x)
    text = f"{share.passed}/{planned}"
    return Segment(level=level, word=shares.short(share), colour=PARTLY, text=text, x=x)


def _summarise(segments: tuple[Segment, ...], score: AgentScore, repository: str) -> Badge:
    """Return the badge in words; its colour is that of the worst level that applies."""
    message = "; ".join(f"{one.level} {one.word}" for one in segments) or "not measured"
    colours = {one.colour for one in segments if one.drawn != _DASH} or {NEUTRAL}
    title = f"{LABEL} of {clean(repository)}, {name_contestant(score)}, strict scoring: {message}"
    colour = next(one for one in (BAD, PARTLY, NEUTRAL, GOOD) if one in colours)
    return Badge(label=LABEL, message=message, colour=colour, title=title)
