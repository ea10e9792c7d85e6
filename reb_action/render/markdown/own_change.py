"""What a change did to the one repository that describes itself, as a sentence for each level.

Statistics over repositories say nothing about one repository, so there are none.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Final

from reb_action.model.comparison import ContestantComparison
from reb_action.model.manifest import Level, Outcome
from reb_action.model.quantity import count
from reb_action.model.scoreboard import TrialRow
from reb_action.render.escape import clean, markdown
from reb_action.render.finding import tell_gaps
from reb_action.render.markdown.run_report import RunReport
from reb_action.render.why import explain_cell
from reb_action.score.base import CellChange, Turn, list_changes

_ORDER: Final = (Turn.BROKEN, Turn.FLIPPED, Turn.FIXED)
_QUOTED: Final = 200
"""Characters of the line that decides."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sentence:
    """How one level of one contestant changed: our words, then text from outside, or ""."""

    contestant: str
    level: Level
    turn: Turn
    words: str
    quoted: str

    def as_markdown(self) -> str:
        """Return the sentence as Markdown."""
        return self._join(markdown)

    def as_text(self) -> str:
        """Return the sentence as plain text in one line."""
        return self._join(clean)

    def _join(self, escape: Callable[..., str]) -> str:
        return f"{self.words}: {escape(self.quoted, limit=_QUOTED)}" if self.quoted else self.words


def list_sentences(report: RunReport, contestants: Collection[str]) -> tuple[Sentence, ...]:
    """Return a sentence for each changed level of these contestants: what broke comes first.

    There are none if the run has other repositories than its own.
    """
    if not report.own_repository:
        return ()
    compared = [one for one in report.base.contestants if one.b in contestants]
    changes = [one for one in list_changes(compared) if one.turn is not Turn.UNCHANGED]
    changes.sort(key=lambda change: _ORDER.index(change.turn))
    return tuple(_tell_change(report, change) for change in changes)


def tell_unchanged(one: ContestantComparison) -> str:
    """Return that no level of a contestant changed, and what the levels were and are."""
    parts = "; ".join(_list_unchanged(one))
    text = f"no level changed: {parts}" if parts else "no level has a result before and now"
    return f"{text}{tell_gaps(one)}."


def find_row(report: RunReport, change: CellChange) -> TrialRow | None:
    """Return the first attempt of a cell that does not pass now."""
    scoring = report.fail_on.scoring
    for row in report.board.trials:
        if (row.name, row.repository) == (change.contestant, change.repository):
            cell = row.cells.get(change.level)
            if cell is not None and explain_cell(change.level, cell, scoring) is not None:
                return row
    return None


def _tell_change(report: RunReport, change: CellChange) -> Sentence:
    row = None if change.turn is Turn.FIXED else find_row(report, change)
    cell = None if row is None else row.cells[change.level]
    blocked = cell is not None and cell.by(report.fail_on.scoring) is Outcome.BLOCKED
    return Sentence(
        contestant=change.contestant,
        level=change.level,
        turn=change.turn,
        words=f"{change.level} {_tell_turn(change, _tell_before(report), blocked=blocked)}",
        quoted="" if cell is None else cell.line or cell.reason,
    )


def _tell_turn(change: CellChange, before: str, *, blocked: bool) -> str:
    match change.turn:
        case Turn.BROKEN:
            return f"passed {before} and {'is blocked' if blocked else 'fails'} now"
        case Turn.FIXED:
            return f"failed {before} and passes now"
        case Turn.FLIPPED | Turn.UNCHANGED:
            was, now = change.before, change.now
            return (
                f"passed in {was.passed} of {count(was.counted, 'attempt')} {before}"
                f" and passes in {now.passed} of {now.counted} now"
            )


def _tell_before(report: RunReport) -> str:
    """Return when the base was measured: a weekly run may have its base at the same commit."""
    same = report.base.commit == report.commit
    return "in an earlier run of this commit" if same else "before this change"


def _list_unchanged(one: ContestantComparison) -> Iterator[str]:
    words: dict[str, list[str]] = {}
    for change in list_changes((one,)):
        now = change.now
        mixed = f"passed as often before as now, in {now.passed} of {count(now.counted, 'attempt')}"
        ends = {0: "failed before and now", now.counted: "passed before and now"}
        words.setdefault(ends.get(now.passed, mixed), []).append(change.level)
    for word, levels in words.items():
        yield f"{', '.join(levels)} {word}"
