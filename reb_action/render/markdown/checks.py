"""Check runs: one for each level over the whole matrix, or one for each trial."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Final

from reb_action.levels import spec_of
from reb_action.model.manifest import Level, Outcome
from reb_action.model.publication import (
    ANNOTATIONS_PER_REQUEST,
    CHECK_BYTES,
    TITLE_CHARACTERS,
    Annotation,
    AnnotationLevel,
    CheckRun,
    Conclusion,
)
from reb_action.model.scoreboard import TrialRow
from reb_action.model.verdict import Scoring
from reb_action.render import shares
from reb_action.render.escape import clean, markdown
from reb_action.render.markdown import sections
from reb_action.render.markdown.changes import counts
from reb_action.render.markdown.run_report import Edition
from reb_action.render.outcomes import MARKS

_CUT: Final = "\n\nCut for its length: the run's summary and artifacts have the rest.\n"
_AGENTS: Final = 200
_MESSAGE: Final = 1000

Seen = Mapping[Level, Sequence[Outcome]]
"""The outcomes of levels; what was planned and is not there is invalid."""


def level_checks(edition: Edition) -> tuple[CheckRun, ...]:
    """Return a check run for each level, over all trials."""
    return tuple(_level_check(edition, level) for level in edition.levels)


def trial_checks(edition: Edition) -> tuple[CheckRun, ...]:
    """Return a check run for each trial, those without a verdict among them."""
    seen = (_trial_check(edition, row) for row in edition.board.trials)
    return (*seen, *(_missing_check(edition, *one) for one in edition.board.missing.items()))


def conclusion(edition: Edition, seen: Seen) -> Conclusion:
    """Return failure where `fail-on` names what has occurred, success where all is fine.

    An agent that fails is a result and no failure: then it is neutral, as what nobody vouches for.
    """
    every = {one for outcomes in seen.values() for one in outcomes}
    levels = seen if edition.fail_on.any else edition.fail_on.levels
    named = {one for level in levels for one in seen.get(level, ())}
    if named - set(sections.FINE) or (edition.fail_on.invalid and Outcome.INVALID in every):
        return Conclusion.FAILURE
    if every <= {Outcome.NOT_APPLICABLE}:
        return Conclusion.SKIPPED
    fine = every <= set(sections.FINE) and not edition.unverified
    return Conclusion.SUCCESS if fine else Conclusion.NEUTRAL


def capped(text: str) -> str:
    """Return text of at most CHECK_BYTES in UTF-8: whole lines, and a note where some are gone."""
    data = text.encode("utf-8", "replace")
    if len(data) <= CHECK_BYTES:
        return data.decode()
    kept = data[: CHECK_BYTES - len(_CUT)].rpartition(b"\n")[0]
    return kept.decode("utf-8", "ignore") + _CUT


def _level_check(edition: Edition, level: Level) -> CheckRun:
    board = edition.board
    seen = [sections.outcome_of(edition, row, level) for row in board.trials]
    seen += [Outcome.INVALID] * len(board.missing)
    check = _check(edition, level, {level: seen}, title=spec_of(level).title)
    return replace(
        check,
        summary=capped("\n\n".join(_summary(edition, level))),
        text=_text(edition, (level,)),
        annotations=_annotations(edition, (level,)),
    )


def _trial_check(edition: Edition, row: TrialRow) -> CheckRun:
    alone = replace(edition, board=replace(edition.board, trials=(row,), missing={}))
    seen = {level: (sections.outcome_of(edition, row, level),) for level in edition.levels}
    rows = ((level, spec_of(level).title, MARKS[one[0]]) for level, one in seen.items())
    return replace(
        _check(edition, row.trial, seen),
        summary=capped(sections.table((("level", "question", "outcome"), *rows))),
        text=_text(alone, edition.levels),
        annotations=_annotations(alone, edition.levels),
    )


def _missing_check(edition: Edition, trial: str, why: str) -> CheckRun:
    check = _check(edition, trial, dict.fromkeys(edition.levels, (Outcome.INVALID,)))
    return replace(check, summary=f"There is no verdict: {markdown(why)}. Run this trial again.")


def _check(edition: Edition, what: str, seen: Seen, *, title: str = "") -> CheckRun:
    told = _headline([one for outcomes in seen.values() for one in outcomes])
    mark = "unverified (workflow of a fork): " if edition.unverified else ""
    return CheckRun(
        name=f"{edition.key} / {clean(what, limit=150)}",
        head_sha=edition.commit,
        external_id=f"reb:{edition.run.run_id}:{clean(what, limit=150)}",
        conclusion=conclusion(edition, seen),
        title=clean(f"{mark}{title}{': ' if title else ''}{told}", limit=TITLE_CHARACTERS),
        summary="",
        details_url=edition.run_url,
    )


def _headline(seen: Sequence[Outcome]) -> str:
    uncounted = (Outcome.NOT_APPLICABLE, Outcome.INVALID)
    counted = sum(one not in uncounted for one in seen)
    told = f"{seen.count(Outcome.PASSED)} of {counted} passed" if counted else "nothing that counts"
    unseen = seen.count(Outcome.INVALID)
    return f"{told}, {unseen} unseen" if unseen else told


def _summary(edition: Edition, level: Level) -> Iterator[str]:
    yield spec_of(level).question
    yield sections.standing(edition)
    yield sections.table(_agents(edition, level))
    yield shares.LEGEND
    if edition.compared is not None:
        yield f"Change since {markdown(edition.compared.commit[:12])}:"
        mine = (one for one in edition.compared.levels if one.level is level)
        yield sections.table(counts(mine))


def _agents(edition: Edition, level: Level) -> Iterator[tuple[str, ...]]:
    other = next(one for one in Scoring if one is not edition.fail_on.scoring)
    scorings = (edition.fail_on.scoring, other)
    yield ("agent", *scorings)
    for one in edition.board.agents[:_AGENTS]:
        found = (shares.lines(one.levels[scoring].get(level)) for scoring in scorings)
        yield (sections.named(one), *(" ".join(lines) for lines in found))


def _text(edition: Edition, levels: tuple[Level, ...]) -> str | None:
    rows = sections.failing(edition, levels)
    missing = (
        (markdown(name), "", "MISSING", markdown(why), "")
        for name, why in edition.board.missing.items()
    )
    # No row is as short as 20 bytes.
    every = tuple(islice(chain(missing, rows), CHECK_BYTES // 20))
    return capped(sections.table((sections.WHY, *every))) if every else None


def _annotations(edition: Edition, levels: tuple[Level, ...]) -> tuple[Annotation, ...]:
    """Return a remark on the file that describes each trial which failed, where there is one."""
    return tuple(islice(_remarks(edition, levels), ANNOTATIONS_PER_REQUEST))


def _remarks(edition: Edition, levels: tuple[Level, ...]) -> Iterator[Annotation]:
    for row in edition.board.trials:
        path = edition.files.get(row.trial)
        told = [
            f"{level} {MARKS[sections.outcome_of(edition, row, level)]}: "
            + clean(row.cells[level].reason, limit=_MESSAGE)
            for level in levels
            if sections.outcome_of(edition, row, level) not in sections.FINE and level in row.cells
        ]
        if path is not None and told:
            yield Annotation(
                path=path,
                start_line=1,
                end_line=1,
                level=AnnotationLevel.WARNING,
                message="\n".join(told),
                title=clean(row.trial, limit=TITLE_CHARACTERS),
            )
