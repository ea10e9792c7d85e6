"""Check runs: one for each level over the whole matrix, or one for each trial."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Final

from reb_action.judge.levels import spec_of
from reb_action.model.github import (
    ANNOTATIONS_PER_REQUEST,
    CHECK_BYTES,
    TITLE_CHARACTERS,
    Annotation,
    AnnotationLevel,
    CheckRun,
    Conclusion,
)
from reb_action.model.manifest import Level, Outcome
from reb_action.model.scoreboard import TrialRow
from reb_action.render import shares
from reb_action.render.escape import clean, markdown
from reb_action.render.finding import rank_finding, tell_level
from reb_action.render.lines import why_message
from reb_action.render.markdown import failures, sections
from reb_action.render.markdown.changes import list_tested
from reb_action.render.markdown.own_change import Sentence, list_sentences
from reb_action.render.markdown.run_report import RunReport
from reb_action.render.outcomes import WORDS
from reb_action.render.tables import other
from reb_action.score.base import find_failed, list_worse

_TRUNCATED: Final = "\n\nTruncated: see the job summary and the artifacts for the rest.\n"
_FOUR_BYTES: Final = re.compile(r"[\U00010000-\U0010ffff]")
_AGENTS: Final = 200
_MESSAGE: Final = 2000
_REASON: Final = 400

Outcomes = Mapping[Level, Sequence[Outcome]]
"""The outcomes of levels; a planned trial without a verdict is invalid."""


def level_checks(report: RunReport) -> tuple[CheckRun, ...]:
    """Return a check run for each level, over all trials."""
    return tuple(_level_check(report, level) for level in report.levels)


def trial_checks(report: RunReport) -> tuple[CheckRun, ...]:
    """Return a check run for each trial, with or without a verdict."""
    judged = (_trial_check(report, row) for row in report.board.trials)
    missing = (_missing_check(report, *item) for item in report.board.missing.items())
    return (*judged, *missing)


def conclude(report: RunReport, outcomes: Outcomes) -> Conclusion:
    """Return failure if `fail-on` names an outcome that occurred, success if all is fine.

    A failing agent is a result, not a failure of the check: it is neutral, and so is an unverified
    run.
    """
    every = {outcome for of_level in outcomes.values() for outcome in of_level}
    levels = outcomes if report.fail_on.any else report.fail_on.levels
    named = {outcome for level in levels for outcome in outcomes.get(level, ())}
    if named - set(sections.FINE) or (report.fail_on.invalid and Outcome.INVALID in every):
        return Conclusion.FAILURE
    if every <= {Outcome.NOT_APPLICABLE}:
        return Conclusion.SKIPPED
    fine = every <= set(sections.FINE) and not report.unverified
    return Conclusion.SUCCESS if fine else Conclusion.NEUTRAL


def truncate(text: str) -> str:
    """Return text of at most CHECK_BYTES in UTF-8: whole lines, and a note if some are cut."""
    data = _plain(text).encode("utf-8", "replace")
    if len(data) <= CHECK_BYTES:
        return data.decode()
    kept = data[: CHECK_BYTES - len(_TRUNCATED)].rpartition(b"\n")[0]
    return kept.decode("utf-8", "ignore") + _TRUNCATED


def _plain(text: str) -> str:
    """Return text without characters of four bytes, which GitHub refuses in some fields."""
    return _FOUR_BYTES.sub("\N{REPLACEMENT CHARACTER}", text)


def _level_check(report: RunReport, level: Level) -> CheckRun:
    board = report.board
    outcomes = [sections.outcome_of(report, row, level) for row in board.trials]
    outcomes += [Outcome.INVALID] * len(board.missing)
    title = _title(report, level, _headline(outcomes))
    check = _check(report, level, {level: outcomes}, title=title)
    if _fails_by_base(report, level):
        check = replace(check, conclusion=Conclusion.FAILURE)
    return replace(
        check,
        summary=truncate("\n\n".join(_summary(report, level))),
        text=_text(report, (level,)),
        annotations=_annotations(report, (level,)),
    )


def _trial_check(report: RunReport, row: TrialRow) -> CheckRun:
    single = replace(report, board=replace(report.board, trials=(row,), missing={}))
    outcomes = {level: (sections.outcome_of(report, row, level),) for level in report.levels}
    rows = ((level, spec_of(level).title, WORDS[outcome]) for level, (outcome,) in outcomes.items())
    changed = (f"**{one.as_markdown()}**" for one in list_sentences(report, (row.name,)))
    table = sections.table((("level", "question", "outcome"), *rows))
    return replace(
        _check(report, row.trial, outcomes),
        summary=truncate("\n\n".join((*changed, table))),
        text=_text(single, report.levels),
        annotations=_annotations(single, report.levels),
    )


def _missing_check(report: RunReport, trial: str, reason: str) -> CheckRun:
    check = _check(report, trial, dict.fromkeys(report.levels, (Outcome.INVALID,)))
    return replace(
        check, summary=_plain(f"There is no verdict: {markdown(reason)}. Run this trial again.")
    )


def _check(report: RunReport, name: str, outcomes: Outcomes, *, title: str = "") -> CheckRun:
    text = title or _headline([outcome for of_level in outcomes.values() for outcome in of_level])
    mark = "unverified (fork workflow): " if report.unverified else ""
    what = _plain(clean(name, limit=150))
    return CheckRun(
        name=f"{report.key} / {what}",
        head_sha=report.commit,
        external_id=f"reb:{report.run.run_id}.{report.run.attempt}:{what}",
        conclusion=conclude(report, outcomes),
        title=_plain(clean(f"{mark}{text}", limit=TITLE_CHARACTERS)),
        summary="",
        details_url=report.run_url,
    )


def _title(report: RunReport, level: Level, counts: str) -> str:
    """Return the title of a level, with the word for contestants that are worse than before.

    In a run of one's own repository with one contestant it is the sentence on what changed.
    """
    tested = {score.name for score in list_tested(report)}
    sentences = _sentences(report, level)
    if len(tested) == 1 and sentences:
        return f"{sentences[0].as_text()} ({counts})"
    worse = any(level in list_worse(one) for one in report.base.contestants if one.b in tested)
    return f"{spec_of(level).title}{', worse than the base' if worse else ''}: {counts}"


def _fails_by_base(report: RunReport, level: Level) -> bool:
    """Return whether `fail-on` regression or broken fails a level; forks are never trusted."""
    if report.unverified:
        return False
    tested = {score.name for score in list_tested(report)}
    compared = (one for one in report.base.contestants if one.b in tested)
    return any(level in find_failed(report.fail_on.regression, one) for one in compared)


def _headline(outcomes: Sequence[Outcome]) -> str:
    uncounted = (Outcome.NOT_APPLICABLE, Outcome.INVALID)
    counted = sum(outcome not in uncounted for outcome in outcomes)
    passed = outcomes.count(Outcome.PASSED)
    text = f"{passed} of {counted} passed" if counted else "no counted trials"
    unseen = outcomes.count(Outcome.INVALID)
    return f"{text}, {unseen} unseen" if unseen else text


def _summary(report: RunReport, level: Level) -> Iterator[str]:
    yield "\n\n".join((*_verdicts(report, level), spec_of(level).question))
    yield sections.headline(report)
    yield sections.table(_agents(report, level))
    yield shares.LEGEND


def _verdicts(report: RunReport, level: Level) -> Iterator[str]:
    """Yield the verdict on each contestant under test at one level."""
    names = {score.name: sections.agent_name(score) for score in list_tested(report)}
    if report.own_repository:
        for sentence in _sentences(report, level):
            head = f"{names[sentence.contestant]}: " if len(names) > 1 else ""
            yield f"**{head}{sentence.as_markdown()}**"
        return
    for one in sorted(report.base.contestants, key=rank_finding):
        if one.b in names and (text := tell_level(one, level)) is not None:
            yield f"**{names[one.b]}: {text}.**"


def _sentences(report: RunReport, level: Level) -> tuple[Sentence, ...]:
    tested = {score.name for score in list_tested(report)}
    return tuple(one for one in list_sentences(report, tested) if one.level is level)


def _agents(report: RunReport, level: Level) -> Iterator[tuple[str, ...]]:
    scorings = (report.fail_on.scoring, other(report.fail_on.scoring))
    yield ("agent", *scorings)
    for score in report.board.agents[:_AGENTS]:
        cells = (shares.lines(score.levels[scoring].get(level)) for scoring in scorings)
        yield (sections.agent_name(score), *(" ".join(lines) for lines in cells))


def _text(report: RunReport, levels: tuple[Level, ...]) -> str | None:
    rows = failures.failure_rows(report, levels, limit=_REASON)
    missing = (
        (markdown(trial), f"MISSING: {markdown(reason)} \N{MIDDLE DOT} run this trial again")
        for trial, reason in report.board.missing.items()
    )
    # A row has more than 20 bytes.
    every = tuple(islice(chain(missing, rows), CHECK_BYTES // 20))
    return truncate(sections.table((failures.HEADS, *every))) if every else None


def _annotations(report: RunReport, levels: tuple[Level, ...]) -> tuple[Annotation, ...]:
    """Return an annotation of the file that describes each failed trial, if there is one."""
    return tuple(islice(_trial_annotations(report, levels), ANNOTATIONS_PER_REQUEST))


def _trial_annotations(report: RunReport, levels: tuple[Level, ...]) -> Iterator[Annotation]:
    for row in report.board.trials:
        path = report.files.get(row.trial)
        link = report.find_evidence(row.trial)
        messages = [
            clean(why_message(explanation, link), limit=_MESSAGE)
            for explanation in failures.explain_row(report, row, levels)
        ]
        if path is not None and messages:
            yield Annotation(
                path=path,
                start_line=1,
                end_line=1,
                level=AnnotationLevel.WARNING,
                message=_plain("\n".join(messages)),
                title=_plain(clean(row.trial, limit=TITLE_CHARACTERS)),
            )
