"""What is told of a scoreboard, as tables of cells; each channel draws and escapes them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from reb_action.model.manifest import Level
from reb_action.model.scoreboard import AgentScore, Cell, Published, Scoreboard, TrialRow
from reb_action.model.verdict import Scoring
from reb_action.render import shares
from reb_action.render.outcomes import DOUBTED, MARKS, doubt
from reb_action.render.quantities import amount, dollars, duration, size

PUBLISHED: Final = "published"


@dataclass(frozen=True, kw_only=True, slots=True)
class Quoted:
    """Text that is not ours: it goes through the escaping function of its channel."""

    text: str


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


def levels_of(board: Scoreboard) -> tuple[Level, ...]:
    """Return the levels that any agent was asked for."""
    asked = {level for one in board.agents for level in one.levels[Scoring.STRICT]}
    return tuple(level for level in Level if level in asked)


def standings(board: Scoreboard, scoring: Scoring) -> Table:
    """Return a row for each agent; by the paper's scoring also the published ones."""
    levels = levels_of(board)
    published = board.published if scoring is Scoring.PAPER else ()
    ours = (_agent(one, levels, scoring) for one in board.agents)
    theirs = (_published(one, levels) for one in published)
    notes = [f"{PUBLISHED}: {one.source}; its own trials, {_runs(one)}." for one in published[:1]]
    return Table(
        title=f"{scoring.capitalize()} scoring",
        heads=("agent", *levels, "imports missing", "hallucinations"),
        rows=(*ours, *theirs),
        notes=tuple(notes),
    )


def spent(board: Scoreboard) -> Table:
    """Return what the trials took, on average over those that know it."""
    return Table(
        title="Spent per trial",
        heads=("agent", "tokens in", "tokens out", "cost", "time", "environment", "ended"),
        rows=tuple(_spent(one) for one in board.agents),
        notes=("Means over the n of m trials that know the number.",),
    )


def trials(board: Scoreboard, scoring: Scoring) -> Table:
    """Return a row for each trial with a verdict: its outcomes by one scoring, then the other's."""
    levels = levels_of(board)
    rows = tuple(_trial(row, levels, scoring) for row in board.trials)
    marked = any(not cell.qualified for row in board.trials for cell in row.cells.values())
    notes = (DOUBTED,) if marked else ()
    return Table(title="Trials", heads=("trial", *levels), rows=rows, notes=notes)


def run_again(board: Scoreboard) -> Table:
    """Return every trial that is missing or invalid, and why."""
    found = (*_why("missing", board.missing.items()), *_why("invalid", board.invalid.items()))
    return Table(title="To run again", heads=("trial", "is", "why"), rows=found)


def headline(board: Scoreboard) -> str:
    """Return how many trials have a verdict, and whether the comparison is complete."""
    planned = len(board.trials) + len(board.missing)
    told = f"{len(board.trials)} of {planned} trials have a verdict."
    if board.complete:
        return told
    kinds = {"missing": len(board.missing), "invalid": len(board.invalid)}
    gaps = " and ".join(f"{count} {kind}" for kind, count in kinds.items() if count)
    return f"{told} This comparison is incomplete: {gaps}."


def other(scoring: Scoring) -> Scoring:
    """Return the scoring that stands second."""
    return Scoring.PAPER if scoring is Scoring.STRICT else Scoring.STRICT


def _agent(one: AgentScore, levels: Iterable[Level], scoring: Scoring) -> tuple[Lines, ...]:
    found = one.levels[scoring]
    return (
        (*_name(one.agent, one.model), f"{one.judged} of {one.planned} trials"),
        *(shares.lines(found.get(level)) for level in levels),
        shares.imports(one.imports.get(scoring)),
        shares.hallucinations(one),
    )


def _published(one: Published, levels: Iterable[Level]) -> tuple[Lines, ...]:
    return (
        (*_name(one.agent, one.model), PUBLISHED),
        *(shares.lines(one.levels.get(level)) for level in levels),
        shares.imports(one.imports),
        shares.published_hallucinations(one),
    )


def _runs(one: Published) -> str:
    return "one run each" if one.runs == 1 else f"{one.runs} runs each"


def _name(agent: str, model: str | None) -> Lines:
    return (Quoted(text=agent),) if model is None else (Quoted(text=agent), Quoted(text=model))


def _spent(one: AgentScore) -> tuple[Lines, ...]:
    took, planned = one.spent, one.planned
    endings = tuple(f"{count} {ending.replace('_', ' ')}" for ending, count in one.endings.items())
    return (
        _name(one.agent, one.model),
        shares.mean(took.input_tokens, planned, amount),
        shares.mean(took.output_tokens, planned, amount),
        shares.mean(took.cost_usd, planned, dollars),
        shares.mean(took.seconds, planned, duration),
        shares.mean(took.prefix_bytes, planned, size),
        endings or (shares.NONE,),
    )


def _trial(row: TrialRow, levels: Iterable[Level], scoring: Scoring) -> tuple[Lines, ...]:
    return ((Quoted(text=row.trial),), *(_cell(row.cells.get(level), scoring) for level in levels))


def _cell(cell: Cell | None, scoring: Scoring) -> Lines:
    if cell is None:
        return ("not asked",)
    second = other(scoring)
    first, differs = cell.by(scoring), cell.by(scoring) is not cell.by(second)
    told = f"{MARKS[first]}{doubt(first, qualified=cell.qualified)}"
    return (told, f"({second}: {MARKS[cell.by(second)]})") if differs else (told,)


def _why(kind: str, found: Iterable[tuple[str, str]]) -> Iterator[tuple[Lines, ...]]:
    for name, why in found:
        yield (Quoted(text=name),), (kind,), (Quoted(text=why),)
