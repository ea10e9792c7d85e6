"""Trials that did not pass, and trials without a valid verdict: each with reason and evidence."""

from collections.abc import Iterator
from typing import Final

from reb_action.model.manifest import Level
from reb_action.model.scoreboard import TrialRow
from reb_action.render.escape import markdown
from reb_action.render.markdown.run_report import RunReport
from reb_action.render.markdown.sections import NAME, details, table
from reb_action.render.markdown.why import tell_why
from reb_action.render.why import Explanation, explain_cell, merge_explanations

HEADS: Final = ("trial", "why")
"""The heads of the rows of `failure_rows`."""


def explain_row(
    report: RunReport, row: TrialRow, levels: tuple[Level, ...]
) -> tuple[Explanation, ...]:
    """Return why levels of a trial did not pass, what they share once."""
    scoring = report.fail_on.scoring
    cells = ((level, row.cells[level]) for level in levels if level in row.cells)
    return merge_explanations(explain_cell(level, cell, scoring) for level, cell in cells)


def failure_rows(
    report: RunReport, levels: tuple[Level, ...], *, limit: int
) -> Iterator[tuple[str, ...]]:
    """Yield a row for each trial that did not pass."""
    for row in report.board.trials:
        link = report.find_evidence(row.trial)
        why = [
            f"{explanation.title}: {tell_why(explanation, link, limit)}"
            for explanation in explain_row(report, row, levels)
        ]
        if why:
            yield markdown(row.trial, limit=2 * NAME), "<br>".join(why)


def list_failures(report: RunReport, *, limit: int) -> Iterator[str]:
    """Yield all failures, folded; reasons and lines have at most `limit` characters."""
    rows = tuple(failure_rows(report, report.levels, limit=limit))
    if rows:
        yield details(f"What did not pass, and why ({len(rows)})", table((HEADS, *rows)))


def list_unseen(report: RunReport, *, most: int) -> Iterator[str]:
    """Yield the trials that are missing or invalid, with reason and link."""
    board = report.board
    rows = [
        *(("missing", trial, reason) for trial, reason in board.missing.items()),
        *(("invalid", trial, reason) for trial, reason in board.invalid.items()),
    ]
    if rows:
        shown = (
            (
                markdown(trial, limit=2 * NAME),
                word,
                f"{markdown(reason)} \N{MIDDLE DOT} [evidence]({report.find_evidence(trial)})",
            )
            for word, trial, reason in rows[:most]
        )
        more = [(f"and {len(rows) - most} more", "", "")] if len(rows) > most else []
        body = table((("trial", "status", "reason"), *shown, *more))
        yield details(f"Missing and invalid, to run again ({len(rows)})", body)
