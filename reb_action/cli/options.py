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
    help="What the result goes by: our rules of evidence, or the paper's formulas; both are shown.",
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
model_option = click.option(
    "--model",
    envvar="REB_MODEL",
    help="Model that the agent asks, by its vendor's name; its key is taken from REB_MODEL_KEY.",
)
model_url_option = click.option(
    "--model-url",
    envvar="REB_MODEL_URL",
    help="Where the model is asked; by default at its vendor's, in the agent's dialect.",
)
_MODEL_OPTIONS = (
    model_option,
    model_url_option,
    click.option(
        "--budget-calls",
        envvar="REB_BUDGET_CALLS",
        type=click.IntRange(1),
        help="Most calls of the model in one trial.",
    ),
    click.option(
        "--budget-tokens",
        envvar="REB_BUDGET_TOKENS",
        type=click.IntRange(1),
        help="Most tokens in one trial, input and output together.",
    ),
    click.option(
        "--budget-usd",
        envvar="REB_BUDGET_USD",
        type=click.FloatRange(0, min_open=True),
        help="Most US dollars in one trial, by list prices; refused where none is known.",
    ),
    click.option(
        "--direct-key",
        envvar="REB_DIRECT_KEY",
        is_flag=True,
        default=False,
        help="Give the agent the key itself, past the gateway; recorded, and no budget is kept.",
    ),
    click.option(
        "--disposable",
        envvar="REB_DISPOSABLE",
        is_flag=True,
        default=False,
        help="This machine is destroyed after the job: a model may steer its local sandbox.",
    ),
)
_PLACE_OPTIONS = (
    sandbox_option,
    image_option,
    click.option(
        "--mirror",
        envvar="REB_MIRROR",
        type=click.Path(path_type=Path, exists=True),
        help="Folder with git mirrors, each at owner/name, owner/name.git, owner__name or"
        " owner+name/repo, or one repository itself; what it lacks is fetched from GitHub.",
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
        type=click.Choice(["open", "allowed", "none"]),
        help="What the agent may reach beside its model; allowed: the hosts of --allow-hosts.",
    ),
    click.option(
        "--allow-hosts",
        envvar="REB_ALLOW_HOSTS",
        default="",
        help="Hosts to reach, such as pypi.org, *.pythonhosted.org, mirror:8080.",
    ),
)
_RUNNER_OPTIONS = (
    agent_seconds_option,
    click.option(
        "--idle-seconds",
        envvar="REB_IDLE_SECONDS",
        default=1800,
        show_default=True,
        type=click.IntRange(1, 86400),
        help="How long neither the agent nor its model may be silent.",
    ),
    *_PLACE_OPTIONS,
    *_MODEL_OPTIONS,
    levels_option,
)
_repository_argument = click.argument("repository", envvar="REB_REPOSITORY")
_TRIAL_OPTIONS = (
    _repository_argument,
    click.option(
        "--agent",
        envvar="REB_AGENT",
        default="pip",
        show_default=True,
        help="One of those that reb agents lists, or a YAML file.",
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


def artifact_options(*, required: bool) -> Callable[[F], F]:
    """Return what adds the options that name this run's plan and artifacts."""
    plan = click.option(
        "--plan",
        "path",
        envvar="REB_PLAN",
        required=required,
        type=click.Path(path_type=Path, exists=True, dir_okay=False),
        help="plan.json of this run.",
    )
    artifacts = click.option(
        "--artifacts",
        "folder",
        envvar="REB_ARTIFACTS",
        required=required,
        type=click.Path(path_type=Path, file_okay=False),
        help="Folder with one folder for each artifact of this run; it need not exist.",
    )
    return lambda command: _with(command, (plan, artifacts))


def trial_options(command: F) -> F:
    """Add the options that decide what one trial is."""
    return _with(command, (*_TRIAL_OPTIONS, *_RUNNER_OPTIONS))


def qualifying_options(command: F) -> F:
    """Add the options that decide what is qualified, and where; no agent works there."""
    results = click.option(
        "--results",
        "folder",
        type=click.Path(path_type=Path, file_okay=False),
        help="Folder for the trials, filled anew each time.  [default: results/<name>.qualify]",
    )
    return _with(command, (_repository_argument, results, *_PLACE_OPTIONS, levels_option))


def runner_options(command: F) -> F:
    """Add the options that all trials of a job share."""
    return _with(command, _RUNNER_OPTIONS)


def _with(command: F, options: tuple[Callable[[F], F], ...]) -> F:
    for option in reversed(options):
        command = option(command)
    return command
