"""The comment on a pull request: results, changes, details; shortened until it fits."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, assert_never

from reb_action.model.github import COMMENT_CHARACTERS, MARKER_CHARACTERS
from reb_action.render.early_stop import stop_markdown
from reb_action.render.escape import markdown
from reb_action.render.markdown import sections
from reb_action.render.markdown.changes import advice, change_blocks, count_changes, headlines
from reb_action.render.markdown.failures import list_failures, list_unseen
from reb_action.render.markdown.run_report import RunReport
from reb_action.render.markdown.why import BRIEF, WHOLE

LIMIT: Final = COMMENT_CHARACTERS - MARKER_CHARACTERS


_SAME: Final = "unchanged cells"
_LEGEND: Final = (
    "<sub>passed/counted cells; + and \N{MINUS SIGN}: repositories that pass more and less often"
    " than in the base; unseen: missing or invalid.</sub>"
)


_FEW: Final = 12
"""Up to this many changed cells have whole reasons, however long the comment is."""


class Grid(StrEnum):
    """How the outcomes of single trials are shown."""

    WORDS = "words"
    LETTERS = "letters"
    FAILING = "failing"
    NONE = "none"


@dataclass(frozen=True, kw_only=True, slots=True)
class Stage:
    """A length of the comment; `names` is the maximum of each list, `without` says what is omitted.

    `reasons` are the characters of a reason; with 0 only changed cells have one.

    More than `trials` cannot fit: a row in words takes 40 characters, one in letters 10.
    """

    grid: Grid
    names: int
    trials: int
    reasons: int = 0
    unchanged: bool = False
    without: str = ""


STAGES: Final = (
    Stage(grid=Grid.WORDS, trials=LIMIT // 40, names=LIMIT, reasons=WHOLE, unchanged=True),
    Stage(grid=Grid.WORDS, trials=LIMIT // 40, names=LIMIT, reasons=WHOLE, without=_SAME),
    Stage(
        grid=Grid.LETTERS,
        trials=LIMIT // 10,
        names=200,
        reasons=BRIEF,
        without=f"{_SAME}, what to do, ends of reasons",
    ),
    Stage(
        grid=Grid.FAILING,
        trials=LIMIT // 10,
        names=100,
        reasons=60,
        without=f"{_SAME}, passed trials, what to do, ends of reasons",
    ),
    Stage(
        grid=Grid.FAILING,
        trials=LIMIT,
        names=50,
        without=f"{_SAME}, passed trials, reasons of trials that failed before",
    ),
    Stage(grid=Grid.NONE, trials=2**63, names=5, without="single trials, reasons, long lists"),
)
"""From the longest comment to one that always fits: reasons of changed cells stay to the last."""


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
    first, *others = headlines(report)
    yield f"### {first}"
    yield from (f"**{line}**" for line in others)
    early = () if report.stop is None else (stop_markdown(report.stop),)
    yield "\n\n".join((*early, *advice(report), sections.headline(report)))
    yield sections.table(sections.agent_rows(report))
    yield _LEGEND
    few = count_changes(report) <= _FEW and stage.grid is not Grid.NONE
    limit = WHOLE if few else stage.reasons or 60
    yield from change_blocks(report, names=stage.names, unchanged=stage.unchanged, limit=limit)
    yield from list_unseen(report, most=stage.names)
    if stage.reasons:
        yield from list_failures(report, limit=stage.reasons)
    yield from _trials(report, stage.grid)
    yield from sections.other_scoring(report)
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
    text = (
        f"{report.key}: [run {report.run.run_id}]({report.run_url}), attempt {report.run.attempt}"
    )
    text += f"; reb {markdown(report.board.reb)}; {report.fail_on.scoring} scoring."
    omitted = f" Omitted for length: {stage.without}; see the job summary."
    return f"<sub>{text}{omitted if stage.without else ''}</sub>"
