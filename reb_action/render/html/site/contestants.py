"""The page of a contestant: its pyramid, its history, its repositories and its failures."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from reb_action.judge.levels import LEVELS
from reb_action.model.record import Passed
from reb_action.model.scoreboard import Scoreboard, TrialRow
from reb_action.render.contestants import title_of
from reb_action.render.html.site.facts import BoardFacts, Publication, TrialFacts
from reb_action.render.html.site.failures import CauseRow, count_causes
from reb_action.render.html.site.figures import Stratum, describe, strata
from reb_action.render.html.site.heat import HeatMap, heat_map
from reb_action.render.html.site.leaderboard import Row
from reb_action.render.html.site.names import badge_of, contestant_page
from reb_action.render.html.site.table import LEVEL_COLUMNS, NOTHING, Column, Field, key_of
from reb_action.render.quantities import percent

HISTORY_COLUMNS: Final = (
    Column(name="published", first="descending"),
    Column(name="passed", title="of all levels", first="descending"),
    *LEVEL_COLUMNS,
)
SHOWN: Final = 60
"""Publications in the table of a contestant's history; the picture has all."""
_WIDTH, _LEFT, _TOP, _BOTTOM = 400, 36, 10, 110


@dataclass(frozen=True, kw_only=True, slots=True)
class HistoryLine:
    """One publication: its run, the levels passed, and each level."""

    facts: TrialFacts
    fields: tuple[Field, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class History:
    """The publications of a contestant, the newest first; `line` is their course in a picture."""

    lines: tuple[HistoryLine, ...]
    points: tuple[tuple[str, str], ...]
    line: str
    first: str
    last: str
    more: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ContestantView:
    """What the page of a contestant shows; the address of each page is from the site's root."""

    row: Row
    title: str
    page: str
    badge: str
    strata: tuple[Stratum, ...]
    words: str
    history: History | None
    heat: HeatMap
    causes: tuple[CauseRow, ...]


def list_contestants(
    scoreboard: Scoreboard, rows: Iterable[Row], pages: Mapping[str, str], facts: BoardFacts
) -> tuple[ContestantView, ...]:
    """Return the view of each contestant, by rank."""
    trials: dict[str, list[TrialRow]] = {}
    for trial in scoreboard.trials:
        trials.setdefault(trial.name, []).append(trial)
    return tuple(_view(row, trials.get(row.ranked.score.name, []), pages, facts) for row in rows)


def _view(
    row: Row, trials: list[TrialRow], pages: Mapping[str, str], facts: BoardFacts
) -> ContestantView:
    score = row.ranked.score
    return ContestantView(
        row=row,
        title=title_of(score),
        page=contestant_page(score),
        badge=badge_of(score, ""),
        strata=strata(score),
        words=describe(score),
        history=_history(facts.history.get(score.name, ())),
        heat=heat_map(title_of(score), trials, pages),
        causes=count_causes(trials),
    )


def _history(publications: tuple[Publication, ...]) -> History | None:
    known = [one for one in publications if one.total.counted]
    if not known:
        return None
    points = tuple(_places([_share(one.total) for one in known]))
    return History(
        lines=tuple(map(_line, known[: -SHOWN - 1 : -1])),
        points=points if len(points) <= SHOWN else points[-1:],
        line=" ".join(f"{x},{y}" for x, y in points),
        first=known[0].facts.date,
        last=known[-1].facts.date,
        more=max(0, len(known) - SHOWN),
    )


def _places(shares: list[float]) -> Iterable[tuple[str, str]]:
    step = (_WIDTH - _LEFT - 12) / max(1, len(shares) - 1)
    for number, share in enumerate(shares):
        y = _BOTTOM - (_BOTTOM - _TOP) * share
        yield f"{_LEFT + 4 + number * step:.1f}", f"{y:.1f}"


def _line(publication: Publication) -> HistoryLine:
    levels = (publication.counts.get(spec.level) for spec in LEVELS)
    return HistoryLine(
        facts=publication.facts, fields=tuple(map(_field, (publication.total, *levels)))
    )


def _field(count: Passed | None) -> Field:
    if count is None or not count.counted:
        return Field(text=NOTHING, key="")
    share = _share(count)
    counted = f"{count.passed} of {count.counted}"
    return Field(text=f"{percent(share)} %", small=counted, key=key_of(share))


def _share(count: Passed) -> float:
    return count.passed / count.counted
