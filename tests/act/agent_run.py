"""Runs the reusable workflow with real agents and scripted models, two trials at a time."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from reb_action import documents
from reb_action.agents.environment import SETTINGS
from reb_action.model.scoreboard import Scoreboard
from tests.act.act_consumer import make_consumer
from tests.act.act_runner import LOG, Run, act, kept, pinned


def marks(seconds: int) -> list[pytest.MarkDecorator]:
    """Return the marks of a suite that installs and runs the real agents, at most so long."""
    return [
        pytest.mark.skipif(
            not os.environ.get("REB_AGENTS"),
            reason="set REB_AGENTS=1 to install and run the real agents",
        ),
        pytest.mark.docker,
        pytest.mark.slow,
        pytest.mark.timeout(seconds),
    ]


@dataclass(frozen=True, kw_only=True)
class AgentRun:
    """A finished run of the workflow: the log of act, and the files that it left in `place`."""

    run: Run
    place: Path

    @property
    def board(self) -> Scoreboard:
        """The scoreboard of the report's artifact."""
        path = self.place / "artifacts" / "researchenvbench-scoreboard" / "scoreboard.json"
        return documents.read(path, Scoreboard, kind="scoreboard")

    def files(self) -> Iterator[tuple[Path, bytes]]:
        """Yield the log of act and every artifact."""
        for path in (self.place / LOG, *sorted((self.place / "artifacts").rglob("*"))):
            if path.is_file():
                yield path, path.read_bytes()


def run_workflow(
    product: Path,
    place: Path,
    files: Mapping[str, str],
    *,
    inputs: Mapping[str, object],
    secrets: Mapping[str, str],
    seconds: int,
) -> Run:
    """Run benchmark.yml for a repository with `files`, of which the first is its manifest."""
    # act takes no expression there, and would run one trial after the other.
    text = pinned(product).replace("max-parallel: ${{ inputs.max-parallel }}", "max-parallel: 2")
    workflows = {"benchmark.yml": text}
    consumer = make_consumer(place / "c", next(iter(files.values())), workflows, files)
    arguments = [f"--input={name}={value}" for name, value in inputs.items()]
    for name, key in secrets.items():
        arguments += ["-s", f"{name}={key}"]
    # Without it act itself would hide the keys.
    arguments.append("--insecure-secrets")
    indexes = {name: os.environ[name] for name in SETTINGS if name in os.environ}
    env = {**indexes, "ARTIFACTS": str(place / "artifacts"), "REB_CACHE": str(kept())}
    where = ("-W", ".github/workflows/benchmark.yml")
    return act(
        product, consumer, place, "workflow_call", *where, *arguments, env=env, timeout=seconds
    )
