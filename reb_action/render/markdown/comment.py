"""The comment on a pull request: results, changes, details; shortened until it fits."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, assert_never

from reb_action.model.github import COMMENT_CHARACTERS, MARKER_CHARACTERS
from reb_action.render import shares
from reb_action.render.escape import markdown
from reb_action.render.markdown import sections
from reb_action.render.markdown.changes import change_blocks
from reb_action.render.markdown.run_report import RunReport

LIMIT: Final = COMMENT_CHARACTERS - MARKER_CHARACTERS


class Grid(StrEnum):
    """How the outcomes of single trials are shown."""

    WORDS = "words"
    LETTERS = "letters"
    FAILING = "failing"
    NONE = "none"


@dataclass(frozen=True, kw_only=True, slots=True)
class Stage:
    """A length of the comment; `names` is the most of any list, `without` says what is omitted.

    More than `trials` cannot fit: a row in words takes 40 characters, one in letters 10.
    """

    grid: Grid
    names: int
    trials: int
    reasons: bool = False
    without: str = ""


STAGES: Final = (
    Stage(grid=Grid.WORDS, trials=LIMIT // 40, names=LIMIT, reasons=True),
    Stage(grid=Grid.WORDS, trials=LIMIT // 40, names=LIMIT, without="reasons for failures"),
    Stage(grid=Grid.LETTERS, trials=LIMIT // 10, names=200, without="reasons, long lists"),
    Stage(grid=Grid.FAILING, trials=LIMIT, names=50, without="passed trials, reasons, long lists"),
    Stage(grid=Grid.NONE, trials=2**63, names=5, without="single trials, reasons, long lists"),
)
"""From the longest comment to one that always fits."""


def write_comment(report: RunReport) -> str:
    """Return Markdown of at most LIMIT characters: the first stage that fits."""
    stages = (stage for stage in STAGES if len(report.board.trials) <= stage.trials)
    texts = (_within(_blocks(report, stage), LIMIT) for stage in stages)
    return next(text for text in texts if text is not None)


def _within(blocks: Iterable[str], limit: int) -> str | None:
    text = ""
    for block in blocks:
        text += f"\n\n{block}" if text else block
        if len(text) > limit:
            return None
    return text


def _blocks(report: RunReport, stage: Stage) -> Iterator[str]:
    yield f"## {report.key}"
    yield sections.headline(report)
    yield sections.table(sections.agent_rows(report))
    if not report.board.complete:
        yield shares.UNSEEN
    yield from change_blocks(report.comparison, names=stage.names)
    yield from sections.run_again(report, most=stage.names)
    yield from _trials(report, stage.grid)
    if stage.reasons:
        yield from sections.reasons(report)
    yield _footer(report, stage)


def _trials(report: RunReport, grid: Grid) -> Iterator[str]:
    rows = report.board.trials
    match grid:
        case Grid.WORDS:
            yield from sections.grid(report)
        case Grid.LETTERS:
            yield from sections.letters(report, rows, "All trials")
        case Grid.FAILING:
            failing = tuple(row for row in rows if not sections.is_fine(report, row))
            yield from sections.letters(report, failing, "Trials that did not pass")
        case Grid.NONE:
            return
        case _:
            assert_never(grid)


def _footer(report: RunReport, stage: Stage) -> str:
    text = f"[Run {report.run.run_id}]({report.run_url}), attempt {report.run.attempt}"
    text += f"; reb {markdown(report.board.reb)}; {report.fail_on.scoring} scoring."
    omitted = f" Omitted for length: {stage.without}; see the job summary."
    return f"<sub>{text}{omitted if stage.without else ''}</sub>"
