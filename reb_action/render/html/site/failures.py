"""What failed and why: failed levels by cause, in the paper's groups and ours."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from reb_action.judge.levels import LEVELS
from reb_action.model.cause_groups import PAPER_GROUPS, CauseGroup, group_of
from reb_action.model.diagnosis import Cause, Diagnosis
from reb_action.model.manifest import Level, Outcome
from reb_action.model.scoreboard import Scoreboard, TrialRow
from reb_action.render.html.site.table import LEVEL_COLUMNS, NOTHING, Column, Field

UNKNOWN_CAUSE: Final = "unknown"
CAUSE_COLUMNS: Final = (
    Column(name="cause"),
    Column(name="levels", title="failed", first="descending"),
    *LEVEL_COLUMNS[:-1],
    Column(name="repositories", first="descending"),
    Column(name="contestants", first="descending"),
)
GROUP_COLUMNS: Final = (
    Column(name="contestant"),
    *(Column(name=group, first="descending") for group in CauseGroup),
    Column(name="failed", title="levels in all", first="descending"),
)
_FAILED: Final = (Outcome.FAILED, Outcome.BLOCKED)


@dataclass(frozen=True, kw_only=True, slots=True)
class CauseRow:
    """A cause: its sentence, the failed levels in all and by level, and where it occurred."""

    cause: str
    name: str
    sentence: str
    fields: tuple[Field, ...]
    total: int


@dataclass(frozen=True, kw_only=True, slots=True)
class GroupSection:
    """A group of causes and its rows, the most frequent first."""

    title: str
    paper: bool
    rows: tuple[CauseRow, ...]
    total: int


@dataclass(frozen=True, kw_only=True, slots=True)
class _Failure:
    cause: str
    level: Level
    repository: str
    contestant: str


def list_groups(scoreboard: Scoreboard) -> tuple[GroupSection, ...]:
    """Return the groups of causes that occurred."""
    rows: defaultdict[CauseGroup, list[CauseRow]] = defaultdict(list)
    for row in count_causes(scoreboard.trials):
        rows[group_of(row.cause)].append(row)
    return tuple(
        GroupSection(
            title=group,
            paper=group in PAPER_GROUPS,
            rows=tuple(rows[group]),
            total=sum(row.total for row in rows[group]),
        )
        for group in CauseGroup
        if rows[group]
    )


def count_causes(trials: Iterable[TrialRow]) -> tuple[CauseRow, ...]:
    """Return the causes of all failed levels by the strict scoring, the most frequent first."""
    by_cause: defaultdict[str, list[_Failure]] = defaultdict(list)
    for failure in _failures(trials):
        by_cause[failure.cause].append(failure)
    rows = (_row(cause, failures) for cause, failures in by_cause.items())
    return tuple(sorted(rows, key=lambda row: (-row.total, row.cause)))


def count_groups(trials: Iterable[TrialRow]) -> tuple[Field, ...]:
    """Return how many levels of a contestant failed by each group, and in all."""
    counts = Counter(group_of(failure.cause) for failure in _failures(trials))
    return tuple(map(_number, (*(counts[group] for group in CauseGroup), counts.total())))


def _failures(trials: Iterable[TrialRow]) -> Iterator[_Failure]:
    """Yield the failed levels; C5 is about claims, and its failures have no diagnosis."""
    for trial in trials:
        for level, cell in trial.cells.items():
            if cell.outcome in _FAILED and level is not Level.C5:
                cause = cell.cause or UNKNOWN_CAUSE
                yield _Failure(
                    cause=cause, level=level, repository=trial.repository, contestant=trial.name
                )


def _row(cause: str, failures: list[_Failure]) -> CauseRow:
    levels = Counter(failure.level for failure in failures)
    counts = (
        len(failures),
        *(levels[spec.level] for spec in LEVELS[:-1]),
        len({failure.repository for failure in failures}),
        len({failure.contestant for failure in failures}),
    )
    return CauseRow(
        cause=cause,
        name="no cause found" if cause == UNKNOWN_CAUSE else cause.replace("_", " "),
        sentence=Diagnosis(cause=Cause(cause)).sentence if cause in set(Cause) else "",
        fields=tuple(map(_number, counts)),
        total=len(failures),
    )


def _number(number: int) -> Field:
    text = f"{number:,}" if number else NOTHING
    return Field(text=text, key=str(number), absent=not number)
