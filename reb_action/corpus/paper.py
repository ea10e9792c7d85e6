"""The results of the paper (arXiv 2603.06739), as rows of the scoreboard."""

from pathlib import Path
from typing import Final

from reb_action import documents
from reb_action.model.scoreboard import Imports, Publication, Published, PublishedCounts, Share
from reb_action.score.statistics import wilson

_FILE: Final = Path(__file__).parent / "paper.json"


def rows() -> tuple[Published, ...]:
    """Return one row for each agent of the paper; its intervals are computed from its counts."""
    paper = documents.read(_FILE, Publication, kind="published")
    return tuple(_row(one, paper) for one in paper.agents)


def _row(one: PublishedCounts, paper: Publication) -> Published:
    return Published(
        agent=one.agent,
        model=one.model,
        source=paper.source,
        runs=paper.runs,
        levels={
            level: Share(passed=passed, counted=counted, interval=wilson(passed, counted))
            for level, counted in paper.counted.items()
            for passed in (one.passed[level],)
        },
        imports=Imports(missing=one.missing, total=paper.imports, most=one.most),
        hallucinations=one.hallucinations,
        capability=one.capability,
    )
