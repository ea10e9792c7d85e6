"""Makes the scoreboard of a run from its artifacts."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from reb_action.corpus import manifests, paper
from reb_action.errors import RebError, UsageError
from reb_action.model.manifest import Level, Manifest
from reb_action.model.plan import Plan
from reb_action.model.scoreboard import Scoreboard
from reb_action.progress import Progress
from reb_action.resources import data_folder
from reb_action.results import collection
from reb_action.results.collection import Collected
from reb_action.score import score


def scored(folders: Sequence[Path], plan: Plan | None, *, tell: Progress) -> Scoreboard:
    """Return the scoreboard over all artifacts in folders; raises UsageError where is none."""
    return board_of(collected_in(folders, plan, tell=tell), plan)


def collected_in(folders: Sequence[Path], plan: Plan | None, *, tell: Progress) -> Collected:
    """Return what folders hold; raises UsageError where there is no trial."""
    collected = collection.collect(folders, plan)
    if not collected.found:
        named = ", ".join(map(str, folders))
        raise UsageError(f"there is no trial in {named}; name a folder that holds artifacts")
    if plan is None:
        tell("without --plan, trials that never came back are not counted")
    if collected.superseded:
        tell(f"{collected.superseded} artifacts gave way to a later attempt")
    return collected


def board_of(collected: Collected, plan: Plan | None) -> Scoreboard:
    """Return the scoreboard of what was collected, at the levels that any trial was asked for."""
    return board(collected, plan, levels=collected.levels or tuple(Level))


def board(collected: Collected, plan: Plan | None, *, levels: tuple[Level, ...]) -> Scoreboard:
    """Return the scoreboard of what was collected; the paper's rows where its corpus was run."""
    slugs = {name.rsplit(".", 2)[0] for name in collected.found}
    corpus = any((data_folder("repos") / f"{slug}.yaml").is_file() for slug in slugs)
    return score(
        collected.found,
        levels=levels,
        manifests=tuple(_manifests(collected, plan)),
        unqualified=collected.unqualified,
        published=paper.rows() if corpus else (),
    )


def _manifests(collected: Collected, plan: Plan | None) -> Iterator[Manifest]:
    """Yield the manifests of planned repositories, where one of their trials has no verdict."""
    absent = {name for name, seen in collected.found.items() if isinstance(seen, str)}
    wanted = {one.repository for one in plan.trials if one.id in absent} if plan else set[str]()
    for repository in sorted(wanted):
        try:
            yield manifests.find(repository)
        except RebError:
            # A file of the caller's repository, which is not checked out here.
            continue
