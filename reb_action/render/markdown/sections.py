"""Sections of a comment and of a check run, as Markdown; all text from outside is escaped."""

from collections.abc import Iterable, Iterator
from typing import Final

from reb_action.model.manifest import Level, Outcome
from reb_action.model.scoreboard import AgentScore, TrialRow
from reb_action.model.verdict import Scoring
from reb_action.render import shares
from reb_action.render.contestants import title_lines
from reb_action.render.escape import markdown, markdown_block
from reb_action.render.markdown.run_report import RunReport
from reb_action.render.outcomes import UNQUALIFIED, UNQUALIFIED_NOTE, WORDS, mark_outcome
from reb_action.render.tables import other

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
FAILURE_HEADS: Final = ("trial", "levels", "outcome", "reason", "likely cause")
"""The heads of the rows of `failure_rows`."""
FINE: Final = (Outcome.PASSED, Outcome.NOT_APPLICABLE)


def table(rows: Iterable[tuple[str, ...]]) -> str:
    """Return a table; the first row is its head, and every cell is Markdown already."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join((lines[0], "|" + lines[0].count(" | ") * "---|" + "---|", *lines[1:]))


def details(summary: str, body: str) -> str:
    """Return a folded section; `summary` is a constant of our own."""
    return f"<details><summary>{summary}</summary>\n\n{body}\n\n</details>"


def headline(report: RunReport) -> str:
    """Return how many trials have a verdict, and whether the results are complete and verified."""
    board = report.board
    count = f"{len(board.trials)} of {report.planned} planned trials have a verdict"
    sentences = [f"{count}, for commit {markdown(report.commit[:12])}."]
    if not board.complete:
        sentences.append("**This comparison is incomplete.**")
    if report.unverified:
        sentences.append("**Unverified: these results come from the workflow of a fork.**")
    return " ".join(sentences)


def agent_rows(report: RunReport) -> Iterator[tuple[str, ...]]:
    """Yield a row for each agent: passed of counted, in both scorings where they differ."""
    scoring, scores = report.fail_on.scoring, report.board.agents
    yield ("agent", "trials", *report.levels)
    for score in scores[:AGENTS]:
        cells = (share_cell(score, level, scoring) for level in report.levels)
        yield (agent_name(score), f"{score.judged} of {score.planned}", *cells)
    if len(scores) > AGENTS:
        yield (f"and {len(scores) - AGENTS} more", *("" for _ in range(len(report.levels) + 1)))


def agent_name(score: AgentScore) -> str:
    """Return the name of a contestant."""
    return " ".join(markdown(line, limit=NAME) for line in title_lines(score))


def share_cell(score: AgentScore, level: Level, scoring: Scoring) -> str:
    """Return passed of counted, the unseen, the other scoring, and for C0 the imports."""
    first = score.levels[scoring].get(level)
    second = score.levels[other(scoring)].get(level)
    if first is None or second is None or not shares.is_planned(first):
        return shares.NONE
    parts = [shares.counts(first), *([shares.bracket(first)] if first.unseen else [])]
    if (first.passed, first.counted) != (second.passed, second.counted):
        parts.append(f"({other(scoring)}: {shares.counts(second)})")
    if level is Level.C0 and (imports := score.imports.get(scoring)) is not None:
        parts.append(f"({shares.imports_line(imports)})")
    return " ".join(parts)


def run_again(report: RunReport, *, most: int) -> Iterator[str]:
    """Yield the trials to run again, with the reason."""
    reasons = {**report.board.invalid, **report.board.missing}
    if reasons:
        shown = list(reasons.items())[:most]
        rows = [(markdown(trial, limit=2 * NAME), markdown(reason)) for trial, reason in shown]
        more = [(f"and {len(reasons) - most} more", "")] if len(reasons) > most else []
        body = table((("trial", "reason"), *rows, *more))
        yield details(f"To run again ({len(reasons)})", body)


def grid(report: RunReport) -> Iterator[str]:
    """Yield the outcomes of every trial in words."""
    trials = report.board.trials
    if trials:
        rows = ((markdown(row.trial, limit=2 * NAME), *_words(report, row)) for row in trials)
        body = table((("trial", *report.levels), *rows))
        note = f"\n\n{UNQUALIFIED_NOTE}" if UNQUALIFIED in body else ""
        yield details(f"All trials ({len(trials)})", body + note)


def letters(report: RunReport, rows: tuple[TrialRow, ...], title: str) -> Iterator[str]:
    """Yield the outcomes of trials, a letter each."""
    if rows:
        lines = (f"{''.join(_letters(report, row))} {row.trial}" for row in rows)
        legend = ", ".join(f"{letter} {WORDS[outcome]}" for outcome, letter in LETTERS.items())
        levels = f"{report.levels[0]} to {report.levels[-1]}"
        yield details(f"{title} ({len(rows)})", f"{levels}: {legend}.\n\n{markdown_block(lines)}")


def reasons(report: RunReport) -> Iterator[str]:
    """Yield the reasons for failures."""
    rows = tuple(failure_rows(report, report.levels))
    if rows:
        body = table((FAILURE_HEADS, *rows))
        yield details(f"Reasons for failures ({len(rows)})", body)


def failure_rows(report: RunReport, levels: tuple[Level, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the failures; levels of a trial that share their reason share a row."""
    for row in report.board.trials:
        shared: dict[tuple[str, str, str | None], list[Level]] = {}
        for level in levels:
            cell, outcome = row.cells.get(level), outcome_of(report, row, level)
            if cell is not None and outcome not in FINE:
                failure = (WORDS[outcome], cell.reason, cell.cause)
                shared.setdefault(failure, []).append(level)
        for (word, reason, cause), failed in shared.items():
            cells = (word, markdown(reason), markdown(cause) if cause else "")
            yield (markdown(row.trial, limit=2 * NAME), ", ".join(failed), *cells)


def is_fine(report: RunReport, row: TrialRow) -> bool:
    """Return whether no level of a trial failed."""
    return all(outcome_of(report, row, level) in FINE for level in report.levels)


def outcome_of(report: RunReport, row: TrialRow, level: Level) -> Outcome:
    """Return an outcome by the leading scoring.

    A level without a cell was not requested. It does not count, unless `fail-on` names it.
    """
    cell = row.cells.get(level)
    if cell is None:
        return Outcome.INVALID if level in report.fail_on.levels else Outcome.NOT_APPLICABLE
    return cell.by(report.fail_on.scoring)


def _words(report: RunReport, row: TrialRow) -> Iterator[str]:
    for level in report.levels:
        outcome, cell = outcome_of(report, row, level), row.cells.get(level)
        mark = mark_outcome(outcome, qualified=cell is None or cell.qualified)
        yield f"{WORDS[outcome]}{mark}"


def _letters(report: RunReport, row: TrialRow) -> Iterator[str]:
    return (LETTERS[outcome_of(report, row, level)] for level in report.levels)
