"""Builds the scoreboard of a run from its artifacts."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from reb_action.corpus import manifests, paper
from reb_action.errors import RebError, UsageError
from reb_action.model.manifest import Level, Manifest
from reb_action.model.plan import Plan
from reb_action.model.progress import Progress
from reb_action.model.quantity import count
from reb_action.model.scoreboard import Scoreboard
from reb_action.resources import data_folder
from reb_action.results import collection
from reb_action.results.collection import Collected
from reb_action.score import score


def score_folders(folders: Sequence[Path], plan: Plan | None, *, tell: Progress) -> Scoreboard:
    """Return the scoreboard of all artifacts in folders; raises UsageError if there are none."""
    return make_folder_board(collect_folders(folders, plan, tell=tell), plan)


def collect_folders(folders: Sequence[Path], plan: Plan | None, *, tell: Progress) -> Collected:
    """Return the trials in folders; raises UsageError if there are none."""
    collected = collection.collect(folders, plan)
    if not collected.found:
        names = ", ".join(map(str, folders))
        raise UsageError(f"there is no trial in {names}; give a folder with artifacts")
    if plan is None:
        tell("without --plan, missing trials are not counted")
    if collected.superseded:
        tell(f"{count(collected.superseded, 'artifact')} superseded by later attempts")
    return collected


def make_folder_board(collected: Collected, plan: Plan | None) -> Scoreboard:
    """Return the scoreboard at the levels that were requested for any trial."""
    return make_board(collected, plan, levels=collected.levels or tuple(Level))


def make_board(collected: Collected, plan: Plan | None, *, levels: tuple[Level, ...]) -> Scoreboard:
    """Return the scoreboard, with the paper's rows if repositories of its corpus were measured."""
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
    """Yield the manifests of planned repositories that have a trial without a verdict."""
    absent = {name for name, result in collected.found.items() if isinstance(result, str)}
    planned = () if plan is None else plan.trials
    for repository in sorted({trial.repository for trial in planned if trial.id in absent}):
        try:
            yield manifests.find(repository)
        except RebError:
            # A manifest file of the caller's repository, which is not checked out here.
            continue
