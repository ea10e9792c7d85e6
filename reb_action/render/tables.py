"""A scoreboard as tables of cells; each channel draws and escapes them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from reb_action.model.manifest import Level
from reb_action.model.quantity import count
from reb_action.model.scoreboard import AgentScore, Cell, Published, Scoreboard, TrialRow
from reb_action.model.verdict import Scoring
from reb_action.render import shares
from reb_action.render.contestants import title_lines
from reb_action.render.escape import log
from reb_action.render.outcomes import UNQUALIFIED_NOTE, WORDS, mark_outcome
from reb_action.render.quantities import amount, dollars, duration, size
from reb_action.render.why import NOT_ASKED, Quoted

PUBLISHED: Final = "published"


Part = str | Quoted
Lines = tuple[Part, ...]
"""One cell: its lines, from top to bottom."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """A title, the heads of the columns, and rows of as many cells."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[Lines, ...], ...]
    notes: tuple[str, ...] = ()


def cell_text(cell: Lines, *, separator: str) -> str:
    """Return a cell for a terminal or a log."""
    return separator.join(log(part.text) if isinstance(part, Quoted) else part for part in cell)


def measured_levels(board: Scoreboard) -> tuple[Level, ...]:
    """Return the levels that any agent's trials requested."""
    requested = {level for score in board.agents for level in score.levels[Scoring.STRICT]}
    return tuple(level for level in Level if level in requested)


def standings(board: Scoreboard, scoring: Scoring) -> Table:
    """Return a row for each agent; the paper's scoring has the published agents too."""
    levels = measured_levels(board)
    published = board.published if scoring is Scoring.PAPER else ()
    notes = [f"{PUBLISHED}: {row.source}; its own trials, {_runs(row)}." for row in published[:1]]
    return Table(
        title=f"{scoring.capitalize()} scoring",
        heads=("agent", *levels, "imports missing", "hallucinations"),
        rows=(
            *(_agent(score, levels, scoring) for score in board.agents),
            *(_published(row, levels) for row in published),
        ),
        notes=tuple(notes),
    )


def resources(board: Scoreboard) -> Table:
    """Return the resources of a trial: means over the trials that report them."""
    return Table(
        title="Resources per trial",
        heads=("agent", "tokens in", "tokens out", "cost", "time", "environment", "ended"),
        rows=tuple(_spent(score) for score in board.agents),
        notes=("Means over the n of m trials that report the number.",),
    )


def trials(board: Scoreboard, scoring: Scoring) -> Table:
    """Return a row for each trial with a verdict: outcomes by one scoring, then the other's."""
    levels = measured_levels(board)
    rows = tuple(_trial(row, levels, scoring) for row in board.trials)
    marked = any(not cell.qualified for row in board.trials for cell in row.cells.values())
    notes = (UNQUALIFIED_NOTE,) if marked else ()
    return Table(title="Trials", heads=("trial", *levels), rows=rows, notes=notes)


def run_again(board: Scoreboard) -> Table:
    """Return every trial that is missing or invalid, and why."""
    rows = (
        *_rows_to_run("missing", board.missing.items()),
        *_rows_to_run("invalid", board.invalid.items()),
    )
    return Table(title="To run again", heads=("trial", "status", "reason"), rows=rows)


def headline(board: Scoreboard) -> str:
    """Return how many trials have a verdict, and whether the comparison is complete."""
    planned = len(board.trials) + len(board.missing)
    has = "has" if planned == 1 else "have"
    text = f"{len(board.trials)} of {count(planned, 'trial')} {has} a verdict."
    if board.complete:
        return text
    counts = {"missing": len(board.missing), "invalid": len(board.invalid)}
    gaps = " and ".join(f"{number} {status}" for status, number in counts.items() if number)
    return f"{text} This comparison is incomplete: {gaps}."


def other(scoring: Scoring) -> Scoring:
    """Return the other scoring."""
    return Scoring.PAPER if scoring is Scoring.STRICT else Scoring.STRICT


def _agent(score: AgentScore, levels: Iterable[Level], scoring: Scoring) -> tuple[Lines, ...]:
    by_level = score.levels[scoring]
    return (
        (*_name(score), f"{score.judged} of {count(score.planned, 'trial')}"),
        *(shares.lines(by_level.get(level)) for level in levels),
        shares.imports(score.imports.get(scoring)),
        shares.hallucinations(score),
    )


def _published(row: Published, levels: Iterable[Level]) -> tuple[Lines, ...]:
    return (
        (Quoted(text=row.agent), Quoted(text=row.model), PUBLISHED),
        *(shares.lines(row.levels.get(level)) for level in levels),
        shares.imports(row.imports),
        shares.published_hallucinations(row),
    )


def _runs(row: Published) -> str:
    return "one run each" if row.runs == 1 else f"{row.runs} runs each"


def _name(score: AgentScore) -> Lines:
    return tuple(Quoted(text=line) for line in title_lines(score))


def _spent(score: AgentScore) -> tuple[Lines, ...]:
    sums, planned = score.spent, score.planned
    counts = (f"{number} {ending.replace('_', ' ')}" for ending, number in score.endings.items())
    endings = tuple(",\n".join(counts).splitlines())
    return (
        _name(score),
        shares.mean(sums.input_tokens, planned, amount),
        shares.mean(sums.output_tokens, planned, amount),
        shares.mean(sums.cost_usd, planned, dollars),
        shares.mean(sums.seconds, planned, duration),
        shares.mean(sums.prefix_bytes, planned, size),
        endings or (shares.NONE,),
    )


def _trial(row: TrialRow, levels: Iterable[Level], scoring: Scoring) -> tuple[Lines, ...]:
    return ((Quoted(text=row.trial),), *(_cell(row.cells.get(level), scoring) for level in levels))


def _cell(cell: Cell | None, scoring: Scoring) -> Lines:
    if cell is None:
        return (NOT_ASKED,)
    first, second = cell.by(scoring), cell.by(other(scoring))
    text = f"{WORDS[first]}{mark_outcome(first, qualified=cell.qualified)}"
    return (text,) if first is second else (text, f"({other(scoring)}: {WORDS[second]})")


def _rows_to_run(status: str, trials: Iterable[tuple[str, str]]) -> Iterator[tuple[Lines, ...]]:
    for trial, reason in trials:
        yield (Quoted(text=trial),), (status,), (Quoted(text=reason),)
