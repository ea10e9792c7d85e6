"""Gathers what a run came to: this one's from a folder, another one's as data of strangers."""

import shutil
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Final

from reb_action.errors import DocumentError, GitHubError
from reb_action.github.api.client import Client
from reb_action.model.event import Occasion
from reb_action.model.github import Artifact, RunOrder
from reb_action.model.manifest import Level
from reb_action.model.plan import Plan
from reb_action.publish import artifacts
from reb_action.publish.content import RunResults
from reb_action.results import collection, plan_file, scoreboard

PLAN_BYTES: Final = 8 * 1024 * 1024
ZIP_BYTES: Final = 128 * 1024 * 1024
TRIALS: Final = 20_000
TOTAL_BYTES: Final = 2 * 1024 * 1024 * 1024
"""What all artifacts of another run unpack to: a trial is some MiB, and a runner has 14 GiB."""


def here(path: Path, folder: Path, occasion: Occasion, *, levels: tuple[Level, ...]) -> RunResults:
    """Return what this run came to, from its plan and a folder with its artifacts."""
    if folder.is_dir():
        artifacts.demand_plain(folder)
    return _made(plan_file.read(path), folder, occasion, levels)


def of_run(client: Client, occasion: Occasion, folder: Path) -> tuple[RunResults, tuple[str, ...]]:
    """Return what another run came to, and why artifacts of it could not be had.

    They are unpacked below `folder`. Raises GitHubError or DocumentError where there is no plan.
    """
    listed = client.artifacts(occasion.run.run_id)
    plan = plan_of(client, listed, folder / "plan")
    faults = tuple(trials_of(client, listed, plan, occasion.run, folder / "artifacts"))
    return _made(plan, folder / "artifacts", occasion, ()), faults


def _made(plan: Plan, folder: Path, occasion: Occasion, levels: tuple[Level, ...]) -> RunResults:
    collected = collection.collect((folder,), plan)
    asked = levels or collected.levels or tuple(Level)
    board = scoreboard.board(collected, plan, levels=asked)
    return RunResults(occasion=occasion, plan=plan, collected=collected, board=board, levels=asked)


def plan_of(client: Client, listed: tuple[Artifact, ...], folder: Path) -> Plan:
    """Return the plan of a run; raises GitHubError or DocumentError where none can be had."""
    found = artifacts.plan_of(listed)
    if found is None:
        raise GitHubError(
            "the run has no plan: it was refused before it began, or is none of the benchmark"
        )
    plan = plan_file.read(artifacts.unpack_plan(_zip(client, found, PLAN_BYTES), folder))
    if len(plan.trials) > TRIALS:
        raise DocumentError(f"the plan has {len(plan.trials)} trials; {TRIALS} are the most")
    return plan


def trials_of(
    client: Client, listed: tuple[Artifact, ...], plan: Plan, run: RunOrder, folder: Path
) -> Iterator[str]:
    """Bring the newest artifact of each entry of the plan; yield why one could not be had.

    The first that leads above TOTAL_BYTES in all, and those after it, are left out.
    """
    newest = artifacts.latest(listed, attempt=run.attempt)
    left = TOTAL_BYTES
    for entry in plan.entries:
        artifact = newest.get(entry.name)
        if artifact is not None:
            try:
                data = _zip(client, artifact, ZIP_BYTES)
                left -= artifacts.unpack_trials(data, folder / artifact.name)
            except (GitHubError, DocumentError) as error:
                yield str(error)
        if artifact is not None and left < 0:
            shutil.rmtree(folder / artifact.name)
            yield (
                f"the artifacts unpack to more than {TOTAL_BYTES} bytes in all: {artifact.name}"
                " and those after it are left out"
            )
            return


def _zip(client: Client, artifact: Artifact, limit: int) -> bytes:
    stream = BytesIO()
    client.download(artifact, stream, limit_bytes=limit)
    return stream.getvalue()
