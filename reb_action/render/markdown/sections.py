"""Sections of a comment and of a check run, as Markdown; every text from outside is escaped."""

from collections.abc import Iterable, Iterator
from typing import Final

from reb_action.model.manifest import Level, Outcome
from reb_action.model.scoreboard import AgentScore, TrialRow
from reb_action.model.verdict import Scoring
from reb_action.render import shares
from reb_action.render.escape import markdown, markdown_block
from reb_action.render.markdown.run_report import Edition
from reb_action.render.outcomes import DOUBT, DOUBTED, MARKS, doubt

AGENTS: Final = 40
"""Agents in a table; the summary has them all."""
NAME: Final = 60
"""Characters of a name in a table; the summary has the rest."""
LETTERS: Final = {
    Outcome.PASSED: "p",
    Outcome.FAILED: "F",
    Outcome.BLOCKED: "B",
    Outcome.NOT_APPLICABLE: "-",
    Outcome.INVALID: "!",
}
WHY: Final = ("trial", "levels", "outcome", "why", "likely cause")
"""The head of what `failing` yields."""
FINE: Final = (Outcome.PASSED, Outcome.NOT_APPLICABLE)


def table(rows: Iterable[tuple[str, ...]]) -> str:
    """Return a table; the first row is its head, and every cell is Markdown already."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join((lines[0], "|" + lines[0].count(" | ") * "---|" + "---|", *lines[1:]))


def details(summary: str, body: str) -> str:
    """Return a folded section; `summary` is a constant of ours."""
    return f"<details><summary>{summary}</summary>\n\n{body}\n\n</details>"


def standing(edition: Edition) -> str:
    """Return in a few sentences what was measured and how far it can be relied on."""
    board = edition.board
    count = f"{len(board.trials)} of {edition.planned} planned trials have a verdict"
    told = [f"{count}, for commit {markdown(edition.commit[:12])}."]
    if not board.complete:
        told.append("**This comparison is incomplete.**")
    if edition.unverified:
        told.append("**Unverified: the workflow that made it comes from a fork.**")
    return " ".join(told)


def agents(edition: Edition) -> Iterator[tuple[str, ...]]:
    """Yield a row for each agent: passed of counted, in both scorings where they differ."""
    scoring, found = edition.fail_on.scoring, edition.board.agents
    yield ("agent", "trials", *edition.levels)
    for one in found[:AGENTS]:
        told = (share(one, level, scoring) for level in edition.levels)
        yield (named(one), f"{one.judged} of {one.planned}", *told)
    if len(found) > AGENTS:
        yield (f"and {len(found) - AGENTS} more", *("" for _ in range(len(edition.levels) + 1)))


def named(one: AgentScore) -> str:
    """Return an agent with its model."""
    agent = markdown(one.agent, limit=NAME)
    return f"{agent} {markdown(one.model, limit=NAME)}" if one.model else agent


def share(one: AgentScore, level: Level, scoring: Scoring) -> str:
    """Return passed of counted, what is unseen, the other scoring, and for C0 the imports."""
    other = Scoring.PAPER if scoring is Scoring.STRICT else Scoring.STRICT
    lead, beside = one.levels[scoring].get(level), one.levels[other].get(level)
    if lead is None or beside is None or not shares.planned(lead):
        return shares.NONE
    told = [shares.counts(lead), *([shares.bracket(lead)] if lead.unseen else [])]
    if (lead.passed, lead.counted) != (beside.passed, beside.counted):
        told.append(f"({other}: {shares.counts(beside)})")
    if level is Level.C0 and (imports := one.imports.get(scoring)) is not None:
        told.append(f"({shares.imports_line(imports)})")
    return " ".join(told)


def again(edition: Edition, *, most: int) -> Iterator[str]:
    """Yield the trials to run again, with why."""
    faults = {**edition.board.invalid, **edition.board.missing}
    if faults:
        shown = list(faults.items())[:most]
        rows = [(markdown(name, limit=2 * NAME), markdown(why)) for name, why in shown]
        more = [(f"and {len(faults) - most} more", "")] if len(faults) > most else []
        body = table((("trial", "why"), *rows, *more))
        yield details(f"To run again ({len(faults)})", body)


def grid(edition: Edition) -> Iterator[str]:
    """Yield the outcomes of every trial in words."""
    rows = edition.board.trials
    if rows:
        lines = ((markdown(row.trial, limit=2 * NAME), *_words(edition, row)) for row in rows)
        body = table((("trial", *edition.levels), *lines))
        note = f"\n\n{DOUBTED}" if DOUBT in body else ""
        yield details(f"All trials ({len(rows)})", body + note)


def letters(edition: Edition, rows: tuple[TrialRow, ...], title: str) -> Iterator[str]:
    """Yield the outcomes of trials, a letter each."""
    if rows:
        lines = (f"{''.join(_letters(edition, row))} {row.trial}" for row in rows)
        legend = ", ".join(f"{letter} {MARKS[one]}" for one, letter in LETTERS.items())
        body = f"{edition.levels[0]} to {edition.levels[-1]}: {legend}.\n\n{markdown_block(lines)}"
        yield details(f"{title} ({len(rows)})", body)


def reasons(edition: Edition) -> Iterator[str]:
    """Yield why levels did not pass."""
    found = tuple(failing(edition, edition.levels))
    if found:
        body = table((WHY, *found))
        yield details(f"Why levels did not pass ({len(found)})", body)


def failing(edition: Edition, levels: tuple[Level, ...]) -> Iterator[tuple[str, ...]]:
    """Yield what did not pass, a row for all levels of a trial that share their reason."""
    for row in edition.board.trials:
        shared: dict[tuple[str, str, str | None], list[Level]] = {}
        for level in levels:
            cell, outcome = row.cells.get(level), outcome_of(edition, row, level)
            if cell is not None and outcome not in FINE:
                why = (MARKS[outcome], cell.reason, cell.cause)
                shared.setdefault(why, []).append(level)
        for (mark, reason, cause), of in shared.items():
            told = (mark, markdown(reason), markdown(cause) if cause else "")
            yield (markdown(row.trial, limit=2 * NAME), ", ".join(of), *told)


def is_fine(edition: Edition, row: TrialRow) -> bool:
    """Say whether no level of a trial failed."""
    return all(outcome_of(edition, row, level) in FINE for level in edition.levels)


def outcome_of(edition: Edition, row: TrialRow, level: Level) -> Outcome:
    """Return an outcome by the scoring that leads.

    What has no cell was not asked for: it counts nowhere, unless `fail-on` names it.
    """
    cell = row.cells.get(level)
    if cell is None:
        return Outcome.INVALID if level in edition.fail_on.levels else Outcome.NOT_APPLICABLE
    return cell.by(edition.fail_on.scoring)


def _words(edition: Edition, row: TrialRow) -> Iterator[str]:
    for level in edition.levels:
        outcome, cell = outcome_of(edition, row, level), row.cells.get(level)
        yield f"{MARKS[outcome]}{doubt(outcome, qualified=cell is None or cell.qualified)}"


def _letters(edition: Edition, row: TrialRow) -> Iterator[str]:
    return (LETTERS[outcome_of(edition, row, level)] for level in edition.levels)
