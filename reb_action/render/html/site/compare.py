"""The page that compares contestants: every pair in a word, and any two of them cell by cell."""

from dataclasses import dataclass
from typing import Final

from reb_action.judge.levels import LEVELS
from reb_action.model.comparison import Finding
from reb_action.model.manifest import Level, Outcome
from reb_action.model.scoreboard import Scoreboard
from reb_action.model.verdict import Scoring
from reb_action.render.html.site.leaderboard import Row
from reb_action.render.html.site.table import NOTHING
from reb_action.score.comparison import PairFinding, compare_all
from reb_action.score.ranking import Ranked

MOST: Final = 30
"""Contestants above which pairs are not compared here: 435 pairs take three seconds."""
_COUNTED: Final = (Outcome.PASSED, Outcome.FAILED, Outcome.BLOCKED)
_WORDS: Final = {
    Finding.BETTER: "better",
    Finding.WORSE: "worse",
    Finding.MIXED: "mixed",
    Finding.NO_DIFFERENCE: NOTHING,
    Finding.INCOMPLETE: NOTHING,
}
_CLASSES: Final = {Finding.NO_DIFFERENCE: "none", Finding.INCOMPLETE: "none"}
_OPPOSITE: Final = {Finding.BETTER: Finding.WORSE, Finding.WORSE: Finding.BETTER}


@dataclass(frozen=True, kw_only=True, slots=True)
class PairCell:
    """One contestant against another: the finding in a word, and its class."""

    text: str
    class_: str


@dataclass(frozen=True, kw_only=True, slots=True)
class PairRow:
    """A contestant against each other one, None against itself; `p` are Holm's, by level.

    `p` has six values for each contestant, with commas between levels and semicolons between
    contestants.
    """

    ranked: Ranked
    cells: tuple[PairCell | None, ...]
    p: str


@dataclass(frozen=True, kw_only=True, slots=True)
class RepositoryCells:
    """A repository: for each contestant and level two digits, passed and counted, in base 36."""

    repository: str
    cells: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ComparePage:
    """The contestants by rank, each against each, and their cells by repository."""

    pairs: tuple[PairRow, ...]
    repositories: tuple[RepositoryCells, ...]


def make_compare_page(scoreboard: Scoreboard, rows: tuple[Row, ...]) -> ComparePage:
    """Return the content of the page that compares contestants."""
    ranking = [row.ranked for row in rows if row.ranked.score.judged]
    found = {}
    if len(ranking) <= MOST:
        pairs = compare_all(scoreboard, levels=tuple(Level), scoring=Scoring.STRICT)
        found = {(pair.a, pair.b): pair for pair in pairs}
    return ComparePage(
        pairs=tuple(_pair_row(one, ranking, found) for one in ranking),
        repositories=tuple(_repositories(scoreboard, ranking)),
    )


def _pair_row(
    one: Ranked, ranking: list[Ranked], found: dict[tuple[str, str], PairFinding]
) -> PairRow:
    name = one.score.name
    others = [other.score.name for other in ranking]
    return PairRow(
        ranked=one,
        cells=tuple(
            None if other == name else _cell(_finding(name, other, found)) for other in others
        ),
        p=";".join(_values(name, other, found) for other in others),
    )


def _finding(name: str, other: str, found: dict[tuple[str, str], PairFinding]) -> Finding:
    """Return what is found of the first contestant against the second."""
    if (other, name) in found:
        return found[other, name].finding
    pair = found.get((name, other))
    if pair is None:
        return Finding.INCOMPLETE
    return _OPPOSITE.get(pair.finding, pair.finding)


def _cell(finding: Finding) -> PairCell:
    return PairCell(text=_WORDS[finding], class_=_CLASSES.get(finding, finding))


def _values(name: str, other: str, found: dict[tuple[str, str], PairFinding]) -> str:
    """Return p of each level, without a sign: the page counts the difference itself."""
    pair = found.get((other, name)) or found.get((name, other))
    if pair is None:
        return ""
    values = (pair.p.get(spec.level) for spec in LEVELS)
    return ",".join("" if value is None else f"{value:.2g}" for value in values)


def _repositories(scoreboard: Scoreboard, ranking: list[Ranked]) -> list[RepositoryCells]:
    counts: dict[tuple[str, str, Level], list[int]] = {}
    for trial in scoreboard.trials:
        for level, cell in trial.cells.items():
            if cell.outcome in _COUNTED:
                count = counts.setdefault((trial.repository, trial.name, level), [0, 0])
                count[0] += cell.outcome is Outcome.PASSED
                count[1] += 1
    names = [one.score.name for one in ranking]
    return [
        RepositoryCells(
            repository=repository,
            cells="".join(
                "".join(_digit(number) for number in counts.get((repository, name, level), (0, 0)))
                for name in names
                for level in Level
            ),
        )
        for repository in sorted({trial.repository for trial in scoreboard.trials})
    ]


def _digit(number: int) -> str:
    return "0123456789abcdefghijklmnopqrstuvwxyz"[min(number, 35)]
