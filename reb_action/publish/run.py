"""Reads the results of a run, from a folder or from the untrusted artifacts of another run."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from itertools import zip_longest
from pathlib import Path
from typing import Final

from reb_action.errors import DocumentError, GitHubError
from reb_action.github.api.client import Client
from reb_action.model.event import Occasion
from reb_action.model.github import Artifact, RunOrder
from reb_action.model.manifest import Level
from reb_action.model.plan import Plan
from reb_action.model.quantity import count
from reb_action.publish import artifacts
from reb_action.publish.content import RunResults
from reb_action.results import collection, plan_file, scoreboard

PLAN_BYTES: Final = 8 * 1024 * 1024
ZIP_BYTES: Final = 128 * 1024 * 1024
TRIALS: Final = 20_000
TOTAL_BYTES: Final = 2 * 1024 * 1024 * 1024
"""Limit on all unpacked artifacts of a run: a trial has a few MiB, and a runner has 14 GiB."""


def read_this_run(
    path: Path, folder: Path, occasion: Occasion, *, levels: tuple[Level, ...]
) -> RunResults:
    """Return the results of the current run, from its plan and a folder with its artifacts."""
    if folder.is_dir():
        artifacts.demand_plain(folder)
    return _combine(plan_file.read_plan(path), folder, occasion, levels)


def read_other_run(
    client: Client, occasion: Occasion, folder: Path, *, key: str
) -> tuple[RunResults, tuple[str, ...]]:
    """Return the results of another run, and the faults of artifacts that could not be read.

    Artifacts are unpacked below `folder`. Raises GitHubError or DocumentError without a plan.
    """
    listed = client.artifacts(occasion.run.run_id)
    plan = fetch_plan(client, listed, folder / "plan", key=key)
    faults = tuple(fetch_trials(client, listed, plan, occasion.run, folder / "artifacts", key=key))
    results = _combine(plan, folder / "artifacts", occasion, ())
    evidence = name_evidence(listed, plan, occasion, key=key)
    return replace(results, evidence=evidence), faults


def find_evidence(client: Client, results: RunResults, *, key: str) -> RunResults:
    """Return the results of the current run with the URLs of its artifacts.

    Without `actions: read` in a private repository they stay unknown, and the run's URL is shown.
    """
    try:
        listed = client.artifacts(results.occasion.run.run_id)
    except GitHubError:
        return results
    evidence = name_evidence(listed, results.plan, results.occasion, key=key)
    return replace(results, evidence=evidence)


def name_evidence(
    listed: tuple[Artifact, ...], plan: Plan, occasion: Occasion, *, key: str
) -> dict[str, str]:
    """Return the URL of the newest artifact of each trial."""
    of_entry = artifacts.find_trials(listed, key=key, attempt=occasion.run.attempt)
    return {
        trial.id: f"{occasion.url}/artifacts/{of_entry[entry.name][0].id}"
        for entry in plan.entries
        for trial in entry.trials
        if entry.name in of_entry
    }


def _combine(plan: Plan, folder: Path, occasion: Occasion, levels: tuple[Level, ...]) -> RunResults:
    collected = collection.collect((folder,), plan)
    levels = levels or collected.levels or tuple(Level)
    board = scoreboard.make_board(collected, plan, levels=levels)
    return RunResults(occasion=occasion, plan=plan, collected=collected, board=board, levels=levels)


def fetch_plan(client: Client, listed: tuple[Artifact, ...], folder: Path, *, key: str) -> Plan:
    """Download the plan of a run; raises GitHubError or DocumentError."""
    artifact = artifacts.find_plan(listed, key=key)
    if artifact is None:
        raise GitHubError(
            f"Run has no artifact {artifacts.name_plan(key)}: planning failed, or it is not a"
            " benchmark run of this key."
        )
    plan = plan_file.read_plan(artifacts.unpack_plan(_zip(client, artifact, PLAN_BYTES), folder))
    if len(plan.trials) > TRIALS:
        raise DocumentError(
            f"the plan has {count(len(plan.trials), 'trial')}; the maximum is {TRIALS}"
        )
    return plan


def fetch_trials(
    client: Client,
    listed: tuple[Artifact, ...],
    plan: Plan,
    run: RunOrder,
    folder: Path,
    *,
    key: str,
) -> Iterator[str]:
    """Download the artifacts of each entry of the plan, the newest first; yield the faults.

    Those of earlier attempts come too: which one of a trial counts is decided when they are
    collected, as in the report. The artifact that exceeds TOTAL_BYTES in all, and those after it,
    are left out.
    """
    of_entry = artifacts.find_trials(listed, key=key, attempt=run.attempt)
    wanted = [of_entry.get(entry.name, ()) for entry in plan.entries]
    # All newest ones first: older ones are left out before them.
    ordered = [artifact for rank in zip_longest(*wanted) for artifact in rank if artifact]
    remaining = TOTAL_BYTES
    for artifact in ordered:
        try:
            data = _zip(client, artifact, ZIP_BYTES)
            remaining -= artifacts.unpack_trials(data, folder / artifact.name)
        except (GitHubError, DocumentError) as error:
            yield str(error)
        if remaining < 0:
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
