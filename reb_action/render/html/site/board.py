"""The rows by the paper's scoring: a separate table, so that scorings are never mixed."""

from dataclasses import dataclass
from typing import Final

from reb_action.judge.levels import LEVELS
from reb_action.model.manifest import Level
from reb_action.model.scoreboard import AgentScore, Published
from reb_action.model.verdict import ClaimKind, Scoring
from reb_action.render import shares
from reb_action.render.html.site.leaderboard import level_field
from reb_action.render.html.site.table import (
    LEVEL_COLUMNS,
    UNKNOWN,
    Column,
    Field,
    imports_field,
    share_field,
)

PAPER_COLUMNS: Final = (
    Column(name="contestant"),
    Column(name="C0", title="imports missing"),
    *LEVEL_COLUMNS[1:-1],
    Column(name="C5", title="hallucinations"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class PaperRow:
    """A row by the paper's scoring: a measured agent, or a published one."""

    score: AgentScore | None
    published: Published | None
    fields: tuple[Field, ...]


def paper_row(score: AgentScore) -> PaperRow:
    """Return an agent by the paper's scoring."""
    fields = (
        imports_field(score.imports.get(Scoring.PAPER)),
        *(level_field(score, spec.level, Scoring.PAPER) for spec in LEVELS[1:-1]),
        _hallucinations(score),
    )
    return PaperRow(score=score, published=None, fields=fields)


def published_row(row: Published) -> PaperRow:
    """Return a published agent; of its hallucinations one kind is known, and not for all."""
    small = None if row.capability is None else f"{row.capability} {ClaimKind.CAPABILITY}"
    total = row.hallucinations
    fields = (
        imports_field(row.imports),
        *(share_field(row.levels.get(spec.level)) for spec in LEVELS[1:-1]),
        Field(text=f"{total:,}", small=small, key=str(total)),
    )
    return PaperRow(score=None, published=row, fields=fields)


def _hallucinations(score: AgentScore) -> Field:
    counts = score.hallucinations
    if not counts:
        return Field(text=shares.NONE, absent=True, key=UNKNOWN)
    share = score.levels.get(Scoring.PAPER, {}).get(Level.C5)
    unknown = (shares.unknown_trials(share.unseen),) if share and share.unseen else ()
    kinds = (*(f"{counts[kind]} {kind}" for kind in ClaimKind if kind in counts), *unknown)
    total = sum(counts.values())
    return Field(text=f"{total:,}", small=", ".join(kinds), key=str(total))
