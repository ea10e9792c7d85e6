"""The shares of contestants as rows for a terminal or a log: each line of a row has its label."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from rich.text import Text

from reb_action.model.manifest import Level
from reb_action.model.quantity import count
from reb_action.model.scoreboard import AgentScore, Published, Scoreboard, Share
from reb_action.model.verdict import Scoring
from reb_action.render import shares
from reb_action.render.contestants import title_lines
from reb_action.render.escape import log
from reb_action.render.quantities import percent
from reb_action.render.tables import PUBLISHED

LEGEND: Final = (
    "share: passed of counted trials. A range means that planned trials have no result (missing or"
    " invalid); its lower end counts them as failed. passed: 7/11 +1 is 7 of 11 counted trials, and"
    " 1 planned trial without a result. 95 %: confidence interval of the share (Wilson), in per"
    " cent. hallucinations: path + version + capability."
)
_EIGHTHS: Final = " ▏▎▍▌▋▊▉"
_FULL, _MAYBE, _EMPTY = "█", "▒", "·"


@dataclass(frozen=True, kw_only=True, slots=True)
class Standing:
    """One contestant by one scoring: the lines of its name, and its share of each level."""

    name: tuple[str, ...]
    shares: tuple[Share | None, ...]


def list_standings(
    board: Scoreboard, scoring: Scoring, levels: tuple[Level, ...]
) -> Iterator[Standing]:
    """Yield each contestant; the paper's scoring has the published rows too."""
    for score in board.agents:
        by_level = score.levels[scoring]
        yield Standing(
            name=(*name_lines(score), f"{score.judged} of {count(score.planned, 'trial')}"),
            shares=tuple(by_level.get(level) for level in levels),
        )
    for row in board.published if scoring is Scoring.PAPER else ():
        yield Standing(
            name=published_lines(row), shares=tuple(row.levels.get(level) for level in levels)
        )


def name_lines(score: AgentScore) -> tuple[str, ...]:
    """Return the name of a contestant as lines for a log."""
    return tuple(map(log, title_lines(score)))


def published_lines(row: Published) -> tuple[str, ...]:
    """Return the name of a published row as lines for a log."""
    return log(row.agent), log(row.model), PUBLISHED


def label_lines(bar: int) -> tuple[str, ...]:
    """Return the labels of the lines of a cell; `bar` is the width of bars, 0 for none."""
    return ("share", "", "passed", "95 %") if bar else ("share", "passed", "95 %")


def share_lines(share: Share | None, bar: int) -> tuple[Text, ...]:
    """Return a share as the lines that `label_lines` names."""
    if not shares.is_planned(share):
        return (Text(shares.NONE, style="dim"),)
    bars = (draw_bar(share, bar),) if bar else ()
    return (Text(_range(share)), *bars, Text(_passed(share)), Text(_interval(share), style="dim"))


def draw_bar(share: Share, width: int) -> Text:
    """Return a share as a bar: measured, then what unseen trials could add, then the rest."""
    sure, best = (share.lowest or 0.0) * width, (share.share or 0.0) * width
    eighths = round(sure * 8)
    part = _EIGHTHS[eighths % 8].strip()
    filled = f"{_FULL * (eighths // 8)}{part}"
    maybe = max(0, round(best) - len(filled)) if share.unseen else 0
    rest = width - len(filled) - maybe
    return Text.assemble((filled, "green"), (_MAYBE * maybe, "green"), (_EMPTY * rest, "dim"))


def _range(share: Share) -> str:
    if share.share is None or share.lowest is None:
        return "none"
    ends: Iterable[str] = dict.fromkeys((percent(share.lowest), percent(share.share)))
    return f"{'-'.join(ends)} %"


def _passed(share: Share) -> str:
    unseen = f" +{share.unseen}" if share.unseen else ""
    return f"{share.passed}/{share.counted}{unseen}"


def _interval(share: Share) -> str:
    if share.interval is None:
        return ""
    low, high = share.interval
    return f"{percent(low)}-{percent(high)}"
