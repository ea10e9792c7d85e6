"""The change since the base, as Markdown: the verdicts, then each cell with its reason."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from reb_action.model.comparison import Attempts, ContestantComparison
from reb_action.model.scoreboard import AgentScore
from reb_action.render import finding
from reb_action.render.comparison_lines import LEGEND
from reb_action.render.escape import markdown
from reb_action.render.markdown.own_change import find_row, list_sentences, tell_unchanged
from reb_action.render.markdown.run_report import RunReport
from reb_action.render.markdown.sections import NAME, agent_name, details
from reb_action.render.markdown.why import WHOLE, tell_why
from reb_action.render.why import explain_cell
from reb_action.score.base import CellChange, Turn, list_changes

_TITLES: Final = {
    Turn.BROKEN: "Broken",
    Turn.FLIPPED: "Flipped by chance: passed in some attempts and failed in others",
    Turn.FIXED: "Fixed",
}
_NAMES: Final = 500
"""Changed cells of a kind in a job summary."""
_VERDICTS: Final = 5
"""Contestants whose verdict is shown; the table has the others."""
_SENTENCES: Final = 12
"""Changed levels of the one repository that have a headline; the lists have the others."""


def list_tested(report: RunReport) -> tuple[AgentScore, ...]:
    """Return the contestants under test: those with a model, or all if none has one."""
    agents = report.board.agents
    return tuple(score for score in agents if score.model is not None) or agents


def headlines(report: RunReport) -> Iterator[str]:
    """Yield the verdict on each contestant under test, the one that needs attention first."""
    compared = {one.b: one for one in report.base.contestants}
    tested = list_tested(report)
    known = sorted(
        (score for score in tested if score.name in compared),
        key=lambda score: finding.rank_finding(compared[score.name]),
    )
    if report.own_repository:
        yield from _tell_own(report, known, compared)
    else:
        for score in known[:_VERDICTS]:
            yield f"{agent_name(score)}: {finding.tell_finding(compared[score.name])}"
        if len(known) > _VERDICTS:
            yield f"and {len(known) - _VERDICTS} more contestants; see the table."
    new = [score for score in tested if score.name not in compared]
    if new:
        more = f" and {len(new) - 1} more" if len(new) > 1 else ""
        yield f"{agent_name(new[0])}{more}: nothing to compare with. {_explain_absence(report)}"


def advice(report: RunReport) -> Iterator[str]:
    """Yield what would decide the open question of each contestant under test.

    The answer is a number of repositories, so a run of one's own repository has none.
    """
    if report.own_repository:
        return
    tested = {score.name for score in list_tested(report)}
    for one in report.base.contestants:
        text = finding.advise_contestant(one) if one.b in tested else None
        if text is not None:
            name = "" if len(tested) == 1 else f"{markdown(one.b, limit=NAME)}, "
            yield f"{name}{text}."


def count_changes(report: RunReport) -> int:
    """Return how many cells changed, those of baselines too."""
    changes = list_changes(report.base.contestants)
    return sum(change.turn is not Turn.UNCHANGED for change in changes)


def change_summary(report: RunReport) -> str:
    """Return the change since the base for a job summary: the verdicts, then each changed cell."""
    blocks = (
        *(f"**{line}**" for line in headlines(report)),
        *advice(report),
        *change_blocks(report, names=_NAMES, unchanged=False, limit=WHOLE),
    )
    return "\n\n".join(("## Change since the base", *blocks)) + "\n"


def change_blocks(report: RunReport, *, names: int, unchanged: bool, limit: int) -> Iterator[str]:
    """Yield the changed cells of contestants under test, then those of the others, folded.

    At most `names` of a kind; reasons and lines of logs have at most `limit` characters.
    """
    tested = {score.name for score in list_tested(report)}
    under_test = [one for one in report.base.contestants if one.b in tested]
    others = [one for one in report.base.contestants if one.b not in tested]
    lists = _Lists(report, names=names, limit=limit, named=len(tested) > 1)
    yield from lists.show(under_test)
    if text := "\n\n".join(_Lists(report, names=names, limit=limit, named=True).show(others)):
        yield details("Changes of the baselines", text)
    if unchanged:
        same = [c for c in list_changes(under_test) if c.turn is Turn.UNCHANGED]
        if same:
            yield details(f"Unchanged ({len(same)})", "\n".join(map(_name_change, same)))
    if report.base.contestants and not report.own_repository:
        yield details("How this is computed", LEGEND)


def _tell_own(
    report: RunReport, scores: Sequence[AgentScore], compared: Mapping[str, ContestantComparison]
) -> Iterator[str]:
    """Yield each changed level of the one repository, then the contestants without a change."""
    heads = {score.name: f"{agent_name(score)}: " if len(scores) > 1 else "" for score in scores}
    sentences = list_sentences(report, heads)
    for sentence in sentences[:_SENTENCES]:
        yield f"{heads[sentence.contestant]}{sentence.as_markdown()}"
    if len(sentences) > _SENTENCES:
        yield f"and {len(sentences) - _SENTENCES} more changed levels; see the lists."
    changed = {sentence.contestant for sentence in sentences}
    for name in [name for name in heads if name not in changed][:_VERDICTS]:
        text = tell_unchanged(compared[name])
        yield f"{heads[name]}{text}" if heads[name] else text[0].upper() + text[1:]


class _Lists:
    """The lists of changed cells, with the reasons of those that do not pass now."""

    def __init__(self, report: RunReport, *, names: int, limit: int, named: bool) -> None:
        self._report = report
        self._names = names
        self._limit = limit
        self._named = named

    def show(self, comparisons: Sequence[ContestantComparison]) -> Iterator[str]:
        changes = tuple(list_changes(comparisons))
        for turn, title in _TITLES.items():
            cells = [change for change in changes if change.turn is turn]
            if cells:
                shown = [self._item(change) for change in cells[: self._names]]
                more = len(cells) - self._names
                rest = [f"- and {more} more"] if more > 0 else []
                yield f"**{title} ({len(cells)})**\n\n" + "\n".join((*shown, *rest))

    def _item(self, change: CellChange) -> str:
        head = _name_change(change, named=self._named)
        row = find_row(self._report, change)
        if row is None or change.turn is Turn.FIXED:
            return head
        explanation = explain_cell(
            change.level, row.cells[change.level], self._report.fail_on.scoring
        )
        link = self._report.find_evidence(row.trial)
        return (
            head if explanation is None else f"{head}: {tell_why(explanation, link, self._limit)}"
        )


def _name_change(change: CellChange, *, named: bool = True) -> str:
    who = f"{markdown(change.contestant, limit=NAME)} on " if named else ""
    repository = markdown(change.repository, limit=NAME)
    return f"- {change.level} {who}{repository} {_count(change.before)} → {_count(change.now)}"


def _count(attempts: Attempts) -> str:
    return f"{attempts.passed}/{attempts.counted}"


def _explain_absence(report: RunReport) -> str:
    return (
        f"{markdown(report.base.why)}."
        if report.base.why
        else "The default branch has no results of it."
    )
