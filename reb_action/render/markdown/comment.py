"""The comment on a pull request: per level, what changed, details folded; shortened in stages."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, assert_never

from reb_action.model.publication import COMMENT_CHARACTERS, MARKER_CHARACTERS
from reb_action.render import shares
from reb_action.render.escape import markdown
from reb_action.render.markdown import changes, sections
from reb_action.render.markdown.run_report import Edition

LIMIT: Final = COMMENT_CHARACTERS - MARKER_CHARACTERS


class Grid(StrEnum):
    """How the outcomes of single trials are told."""

    WORDS = "words"
    LETTERS = "letters"
    FAILING = "failing"
    NONE = "none"


@dataclass(frozen=True, kw_only=True, slots=True)
class Stage:
    """How much is told; `names` is the most of any list, `without` says what is left out.

    More than `trials` cannot fit: a row in words takes 40 characters, one in letters 10.
    """

    grid: Grid
    names: int
    trials: int
    reasons: bool = False
    without: str = ""


STAGES: Final = (
    Stage(grid=Grid.WORDS, trials=LIMIT // 40, names=LIMIT, reasons=True),
    Stage(grid=Grid.WORDS, trials=LIMIT // 40, names=LIMIT, without="why levels did not pass"),
    Stage(grid=Grid.LETTERS, trials=LIMIT // 10, names=200, without="reasons, long lists"),
    Stage(grid=Grid.FAILING, trials=LIMIT, names=50, without="what passed, reasons, long lists"),
    Stage(grid=Grid.NONE, trials=2**63, names=5, without="single trials, reasons, long lists"),
)
"""From everything to what always fits."""


def comment(edition: Edition) -> str:
    """Return Markdown of at most LIMIT characters: all of it, or the first stage that fits."""
    stages = (stage for stage in STAGES if len(edition.board.trials) <= stage.trials)
    told = (_within(_blocks(edition, stage), LIMIT) for stage in stages)
    return next(text for text in told if text is not None)


def _within(blocks: Iterable[str], limit: int) -> str | None:
    text = ""
    for block in blocks:
        text += f"\n\n{block}" if text else block
        if len(text) > limit:
            return None
    return text


def _blocks(edition: Edition, stage: Stage) -> Iterator[str]:
    yield f"## {edition.key}"
    yield sections.standing(edition)
    yield sections.table(sections.agents(edition))
    if not edition.board.complete:
        yield shares.UNSEEN
    yield from changes.blocks(edition.compared, names=stage.names)
    yield from sections.again(edition, most=stage.names)
    yield from _trials(edition, stage.grid)
    if stage.reasons:
        yield from sections.reasons(edition)
    yield _footer(edition, stage)


def _trials(edition: Edition, grid: Grid) -> Iterator[str]:
    rows = edition.board.trials
    match grid:
        case Grid.WORDS:
            yield from sections.grid(edition)
        case Grid.LETTERS:
            yield from sections.letters(edition, rows, "All trials")
        case Grid.FAILING:
            bad = tuple(row for row in rows if not sections.is_fine(edition, row))
            yield from sections.letters(edition, bad, "Trials that did not pass")
        case Grid.NONE:
            return
        case _:
            assert_never(grid)


def _footer(edition: Edition, stage: Stage) -> str:
    told = f"[Run {edition.run.run_id}]({edition.run_url}), attempt {edition.run.attempt}"
    told += f"; reb {markdown(edition.board.reb)}; {edition.fail_on.scoring} scoring."
    left_out = f" Left out for its length: {stage.without}; the run's summary has more."
    return f"<sub>{told}{left_out if stage.without else ''}</sub>"
