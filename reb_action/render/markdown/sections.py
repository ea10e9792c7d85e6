"""Sections of a comment and of a check run, as Markdown; all text from outside is escaped."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from reb_action.model.comparison import ContestantComparison
from reb_action.model.manifest import Level, Outcome
from reb_action.model.scoreboard import AgentScore, Share, TrialRow
from reb_action.model.verdict import Scoring
from reb_action.render import shares
from reb_action.render.contestants import title_lines
from reb_action.render.escape import markdown, markdown_block
from reb_action.render.markdown.run_report import RunReport
from reb_action.render.outcomes import UNQUALIFIED, UNQUALIFIED_NOTE, WORDS, mark_outcome
from reb_action.render.quantities import dollars
from reb_action.render.tables import other
from reb_action.render.why import NOT_ASKED

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
FINE: Final = (Outcome.PASSED, Outcome.NOT_APPLICABLE)


def table(rows: Iterable[tuple[str, ...]]) -> str:
    """Return a table; the first row is its head, and every cell is Markdown already."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join((lines[0], "|" + lines[0].count(" | ") * "---|" + "---|", *lines[1:]))


def details(summary: str, body: str) -> str:
    """Return a folded section; `summary` is a constant."""
    return f"<details><summary>{summary}</summary>\n\n{body}\n\n</details>"


def headline(report: RunReport) -> str:
    """Return how many trials have a valid verdict, and the base of the comparison."""
    board, base = report.board, report.base
    count = f"{len(board.trials)} of {report.planned} planned trials have a verdict"
    text = f"{count}, for commit {markdown(report.commit[:12])}"
    if base.contestants:
        text += f", compared with [{markdown(base.commit[:12])}]({base.url})"
    gaps = {"missing": len(board.missing), "invalid": len(board.invalid)}
    named = " and ".join(f"{number} {word}" for word, number in gaps.items() if number)
    sentences = [f"{text}."]
    if named:
        sentences.append(f"**Incomplete: {named}.**")
    if report.unverified:
        sentences.append("**Unverified: these results come from the workflow of a fork.**")
    return " ".join(sentences)


def agent_rows(report: RunReport) -> Iterator[tuple[str, ...]]:
    """Yield a row for each agent: passed of counted and the change, then the cost of a trial.

    Contestants under test come before those without a model.
    """
    compared = {one.b: one for one in report.base.contestants}
    scores = sorted(report.board.agents, key=lambda score: score.model is None)
    has_models = any(score.model is not None for score in scores)
    yield ("contestant", *report.levels, "cost of a trial")
    for score in scores[:AGENTS]:
        baseline = " (baseline)" if has_models and score.model is None else ""
        cells = (_level_cell(report, score, level, compared) for level in report.levels)
        cost = shares.mean_text(score.spent.cost_usd, dollars) or "-"
        yield (f"{agent_name(score)}{baseline}", *cells, cost)
    if len(scores) > AGENTS:
        yield (f"and {len(scores) - AGENTS} more", *("" for _ in range(len(report.levels) + 1)))


def other_scoring(report: RunReport) -> Iterator[str]:
    """Yield the shares by the other scoring, folded, with the imports of C0."""
    scoring = other(report.fail_on.scoring)
    rows = [
        (agent_name(score), *(share_cell(score, level, scoring) for level in report.levels))
        for score in report.board.agents[:AGENTS]
    ]
    if rows:
        head = ("contestant", *report.levels)
        yield details(f"By the {scoring} scoring", table((head, *rows)))


def agent_name(score: AgentScore) -> str:
    """Return the name of a contestant."""
    return " ".join(markdown(line, limit=NAME) for line in title_lines(score))


def share_cell(score: AgentScore, level: Level, scoring: Scoring) -> str:
    """Return passed of counted, the unseen, and for C0 the imports."""
    share = score.levels[scoring].get(level)
    if not shares.is_planned(share):
        return shares.NONE
    parts = [_fraction(share)]
    if level is Level.C0 and (imports := score.imports.get(scoring)) is not None:
        parts.append(f"({shares.imports_line(imports)})")
    return " ".join(parts)


def _level_cell(
    report: RunReport,
    score: AgentScore,
    level: Level,
    compared: Mapping[str, ContestantComparison],
) -> str:
    """Return passed of counted, then how many repositories pass more (+) and less (-) often."""
    share = score.levels[report.fail_on.scoring].get(level)
    if not shares.is_planned(share):
        return shares.NONE
    one = compared.get(score.name)
    levels = () if one is None else one.levels
    change = next((of for of in levels if of.level is level), None)
    signs = () if change is None else (f"+{change.higher}", f"\N{MINUS SIGN}{change.lower}")
    return _fraction(share, *(sign for sign in signs if sign[1:] != "0"))


def _fraction(share: Share, *changes: str) -> str:
    unseen = f", {share.unseen} unseen" if share.unseen else ""
    return " ".join((f"{share.passed}/{share.counted}", *changes)) + unseen


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
        cell = row.cells.get(level)
        if cell is None:
            yield NOT_ASKED
            continue
        outcome = outcome_of(report, row, level)
        yield f"{WORDS[outcome]}{mark_outcome(outcome, qualified=cell.qualified)}"


def _letters(report: RunReport, row: TrialRow) -> Iterator[str]:
    return (LETTERS[outcome_of(report, row, level)] for level in report.levels)
