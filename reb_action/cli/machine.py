"""The commands about this machine: agents, demo, doctor, selftest."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reb_action.cli import console
from reb_action.cli.completion import complete_agents
from reb_action.cli.options import (
    FOLDER,
    as_json,
    image_option,
    model_option,
    model_url_option,
    parse_kind,
    sandbox_option,
)
from reb_action.errors import UsageError
from reb_action.sandbox.protocol import Kind

if TYPE_CHECKING:
    from reb_action.demo import DemoTrial


@click.command()
@sandbox_option
@image_option
@model_option
@model_url_option
@click.option(
    "--agent",
    shell_complete=complete_agents,
    help="Send the test request in this agent's API dialect.  [default: the vendor's own]",
)
def doctor(
    *, sandbox: Kind, image: str, model: str | None, model_url: str | None, agent: str | None
) -> None:
    """Check that this machine can run a trial.

    With --model, send the model one test request with the key in REB_MODEL_KEY, for one token.
    Exit code 4 if something is missing, 12 if the model does not work.
    """
    from reb_action.doctor import check_machine, check_model
    from reb_action.errors import ModelError, SandboxError
    from reb_action.render.escape import log

    if model is None and (agent is not None or model_url is not None):
        given = "--agent" if agent is not None else "--model-url"
        raise UsageError(f"{given} needs --model; set it, or remove {given}")
    findings = tuple(check_machine(sandbox, image))
    asked = () if model is None else (check_model(model, model_url, agent, os.environ),)
    click.echo("\n".join(log(finding.line) for finding in (*findings, *asked)))
    if not all(finding.ok for finding in asked):
        sys.exit(ModelError.exit_code)
    if not all(finding.ok for finding in findings):
        sys.exit(SandboxError.exit_code)


@click.command()
@sandbox_option
@image_option
@as_json
def agents(*, sandbox: Kind, image: str, as_json: bool) -> None:
    """List the agents, their requirements and what is missing here."""
    from reb_action import documents
    from reb_action.agents.install import cache_folder
    from reb_action.agents.inventory import Here, inventory
    from reb_action.render.agent_list import agent_lines

    cache = cache_folder(os.environ)
    here = Here(kind=sandbox, image=image, environ=os.environ, cache=cache)
    listing = inventory(here)
    if as_json:
        click.echo(documents.encode(listing, kind="agents").decode(), nl=False)
    else:
        click.echo("\n".join(agent_lines(listing)))


@click.command()
@click.option(
    "--results", "folder", default=Path("results/demo"), show_default=True,
    type=FOLDER,
    help="Folder for the two trials; cleared first.",
)  # fmt: skip
def demo(folder: Path) -> None:
    """Run an honest and a lying agent; needs no Docker, GPU or key."""
    from reb_action.demo import run_demo

    with console.show_progress(quiet=False) as tell:
        trials = run_demo(folder, environ=os.environ, tell=tell)
    _print_demo(trials)


def _print_demo(trials: "tuple[DemoTrial, ...]") -> None:
    """Print both verdicts, then compare each agent's claims with the observations."""
    for trial in trials:
        click.echo()
        console.show_verdict(trial.verdict, as_json=False, folder=trial.folder)
    click.echo("\nSummary")
    for trial in trials:
        click.echo()
        console.print_summary(trial.verdict, trial.notes)


@click.command()
@click.option(
    "--sandbox", default="local", show_default=True, type=click.Choice(["docker", "local"]),
    callback=parse_kind, help="docker, or local: a folder on this machine.",
)  # fmt: skip
@image_option
@click.option(
    "--gpus", default=0, show_default=True, type=click.IntRange(0, 64),
    help="Number of GPUs available. Above 0, the attacks on the GPU levels run too.",
)  # fmt: skip
@click.option("--only", metavar="NAME", help="Run only this attack.")
@click.option(
    "--jobs", default=1, show_default=True, type=click.IntRange(1, 64),
    help="Number of attacks at a time. Above 1 it needs --sandbox docker.",
)  # fmt: skip
@click.option(
    "--results", "folder", default=Path("results/selftest"), show_default=True,
    type=FOLDER,
    help="Folder for the trials; cleared first.",
)  # fmt: skip
def selftest(
    sandbox: Kind, image: str, gpus: int, only: str | None, jobs: int, folder: Path
) -> None:
    """Run cheating agents and check that each is caught.

    Exit code 1 if one of them is not caught.
    """
    from reb_action.model.quantity import count
    from reb_action.redteam.selftest import selftest as run_attacks
    from reb_action.render.escape import log

    if jobs > 1 and sandbox is not Kind.DOCKER:
        raise UsageError("--jobs above 1 needs --sandbox docker, which keeps the attacks apart")
    docker_image = image if sandbox is Kind.DOCKER else None
    results: list[bool] = []
    attacks = run_attacks(
        folder.absolute(), kind=sandbox, image=docker_image, gpus=gpus, only=only, jobs=jobs
    )
    for line, passed in attacks:
        click.echo(log(line))
        results.append(passed)
    click.echo(f"{sum(results)} of {count(len(results), 'check')} passed")
    if not all(results):
        sys.exit(1)


MACHINE = (doctor, agents, demo, selftest)
