"""The options that several commands share; each envvar is the name of the action's input."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from reb_action.model.manifest import Level

F = TypeVar("F", bound=Callable[..., object])

folder_argument = click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON on standard output.")
deadline_option = click.option(
    "--deadline",
    "ends_at",
    envvar="REB_DEADLINE",
    type=click.IntRange(0),
    help="When this job will be ended, in seconds since the epoch; a step that may not fit"
    " is not begun.",
)
levels_option = click.option(
    "--levels",
    envvar="REB_LEVELS",
    default=",".join(Level),
    show_default=True,
    help="Levels to measure, separated by commas.",
)
fail_on_option = click.option(
    "--fail-on",
    envvar="REB_FAIL_ON",
    default="invalid",
    show_default=True,
    help="What fails the job: never, invalid (our fault or the runner's), any, or levels that"
    " must hold, separated by commas.",
)
scoring_option = click.option(
    "--scoring",
    envvar="REB_SCORING",
    default="strict",
    show_default=True,
    type=click.Choice(["strict", "paper"]),
    help="What goes by: our rules of evidence, or the paper's formulas; both are always shown.",
)
sandbox_option = click.option(
    "--sandbox",
    envvar="REB_SANDBOX",
    default="docker",
    show_default=True,
    type=click.Choice(["docker", "local"]),
    help="docker, or local: a folder of this machine, which isolates nothing.",
)
image_option = click.option(
    "--image",
    envvar="REB_IMAGE",
    default="researchenvbench-agent:latest",
    show_default=True,
    help="Image of the docker sandbox.",
)
agent_seconds_option = click.option(
    "--agent-seconds",
    envvar="REB_AGENT_SECONDS",
    default=3600,
    show_default=True,
    type=click.IntRange(1, 86400),
    help="The agent's own clock.",
)
_RUNNER_OPTIONS = (
    agent_seconds_option,
    sandbox_option,
    image_option,
    click.option(
        "--mirror",
        envvar="REB_MIRROR",
        type=click.Path(path_type=Path, exists=True),
        help="Folder with git mirrors; without it the repository is fetched.",
    ),
    click.option(
        "--gpus",
        envvar="REB_GPUS",
        default=0,
        show_default=True,
        type=click.IntRange(0, 64),
        help="GPUs that this runner promises.",
    ),
    click.option(
        "--network",
        envvar="REB_NETWORK",
        default="open",
        show_default=True,
        type=click.Choice(["open", "none"]),
        help="What the agent may reach.",
    ),
    levels_option,
)
_TRIAL_OPTIONS = (
    click.argument("repository", envvar="REB_REPOSITORY"),
    click.option(
        "--agent",
        envvar="REB_AGENT",
        default="pip",
        show_default=True,
        help="nop, replay, command, pip, uv, or a YAML file.",
    ),
    click.option(
        "--agent-argument",
        envvar="REB_AGENT_ARGUMENT",
        help="Command line of `command`, folder of `replay`.",
    ),
    click.option(
        "--attempt",
        envvar="REB_ATTEMPT",
        default=1,
        show_default=True,
        type=click.IntRange(1, 1000),
        help="Number of this attempt.",
    ),
    click.option(
        "--results",
        "folder",
        envvar="REB_RESULTS",
        type=click.Path(path_type=Path, file_okay=False),
        help="Folder for the trial.  [default: results/<trial>]",
    ),
)


def trial_options(command: F) -> F:
    """Add the options that decide what one trial is."""
    return _with(command, (*_TRIAL_OPTIONS, *_RUNNER_OPTIONS))


def runner_options(command: F) -> F:
    """Add the options that all trials of a job share."""
    return _with(command, _RUNNER_OPTIONS)


def _with(command: F, options: tuple[Callable[[F], F], ...]) -> F:
    for option in reversed(options):
        command = option(command)
    return command
