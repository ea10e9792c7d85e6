"""The commands that look at this machine: agents, demo, doctor, selftest."""

import os
import sys
from pathlib import Path

import click

from reb_action.cli import console
from reb_action.cli.options import as_json, image_option, sandbox_option
from reb_action.demo import Shown


@click.command()
@sandbox_option
@image_option
def doctor(sandbox: str, image: str) -> None:
    """Say what this machine lacks for a trial; exit code 4 if anything."""
    from reb_action import doctor as examination
    from reb_action.sandbox.protocol import Kind

    findings = tuple(examination.examine(Kind(sandbox), image))
    click.echo("\n".join(finding.line for finding in findings))
    if not all(finding.fine for finding in findings):
        sys.exit(4)


@click.command()
@sandbox_option
@image_option
@as_json
def agents(*, sandbox: str, image: str, as_json: bool) -> None:
    """List the agents: what each is, needs, and lacks on this machine."""
    from reb_action import documents
    from reb_action.agents.install import cache_folder
    from reb_action.agents.inventory import Here, inventory
    from reb_action.render.agent_list import agent_lines
    from reb_action.sandbox.protocol import Kind

    cache = cache_folder(os.environ)
    here = Here(kind=Kind(sandbox), image=image, environ=os.environ, cache=cache)
    found = inventory(here)
    lines = documents.encode(found, kind="agents").decode().rstrip() if as_json else None
    click.echo(lines or "\n".join(agent_lines(found)))


@click.command()
@click.option(
    "--results", "folder", default=Path("results/demo"), show_default=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for the two trials, filled anew each time.",
)  # fmt: skip
def demo(folder: Path) -> None:
    """Show two trials of a small repository, one by a lying agent: no Docker, GPU or key."""
    from reb_action import demo as show
    from reb_action.cli.console import telling

    with telling(quiet=False) as tell:
        trials = show.demo(folder, environ=os.environ, tell=tell)
    present(trials)


@click.command()
@click.option(
    "--sandbox", default="local", show_default=True, type=click.Choice(["docker", "local"]),
    help="docker, or local: a folder of this machine.",
)  # fmt: skip
@image_option
@click.option(
    "--gpus", default=0, show_default=True, type=click.IntRange(0, 64),
    help="GPUs of this machine; with some, the cheaters of the GPU levels play too.",
)  # fmt: skip
@click.option("--only", metavar="NAME", help="Play this cheater alone.")
@click.option(
    "--results", "folder", default=Path("results/selftest"), show_default=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for the trials, filled anew each time.",
)  # fmt: skip
def selftest(sandbox: str, image: str, gpus: int, only: str | None, folder: Path) -> None:
    """Play cheating agents against a bait; exit code 1 if any gets through."""
    from reb_action.redteam.selftest import selftest as examination
    from reb_action.render.escape import log
    from reb_action.sandbox.protocol import Kind

    kind = Kind(sandbox)
    named = image if kind is Kind.DOCKER else None
    plays = examination(folder.absolute(), kind=kind, image=named, gpus=gpus, only=only)
    fine = [click.echo(log(line)) or good for line, good in plays]
    click.echo(f"{sum(fine)} of {len(fine)} plays came out as they must")
    if not all(fine):
        sys.exit(1)


MACHINE = (doctor, agents, demo, selftest)


def present(trials: tuple[Shown, ...]) -> None:
    """Print both verdicts, and at the end what each agent said beside what was found."""
    for one in trials:
        click.echo()
        console.show_verdict(one.verdict, as_json=False, folder=one.folder)
    click.echo("\nIn short")
    for one in trials:
        click.echo()
        console.print_summary(one.verdict, one.notes)
