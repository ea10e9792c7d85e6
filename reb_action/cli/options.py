"""The options that commands share. Each envvar is the name of the action's input."""

from collections.abc import Callable
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from reb_action.cli.groups import (
    AGENT_SECONDS,
    IDLE_SECONDS,
    ModelOptions,
    PlaceOptions,
    RunnerOptions,
    TrialOptions,
)
from reb_action.errors import UsageError
from reb_action.model.manifest import Level
from reb_action.sandbox.protocol import Kind

if TYPE_CHECKING:
    from reb_action.judge.gate import FailOn

Command = Callable[..., object]
Decorator = Callable[[Command], Command]

_LEVELS: Final = ", ".join(Level)


def pass_group(name: str, factory: Callable[..., object], *options: Decorator) -> Decorator:
    """Return a decorator that adds options and passes their values on as one value.

    The parameters of `factory` are the names of the values that it takes.
    """
    fields = tuple(signature(factory).parameters)

    def decorate(command: Command) -> Command:
        @wraps(command)
        def call(**values: object) -> object:
            value = factory(**{field: values.pop(field) for field in fields})
            return command(**values, **{name: value})

        return add_options(*options)(call)

    return decorate


def add_options(*options: Decorator) -> Decorator:
    """Return a decorator that adds options in the order of the help."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def parse_levels(text: str) -> tuple[Level, ...]:
    """Return the levels of a list such as `C0,C1`, in the order of the pyramid."""
    names = {name.strip().upper() for name in text.split(",") if name.strip()}
    if not names:
        raise UsageError(f"--levels is empty; the levels are {_LEVELS}")
    unknown = sorted(names - set(Level))
    if unknown:
        from reb_action.documents import show

        raise UsageError(f"there is no level {show(unknown[0])}; the levels are {_LEVELS}")
    return tuple(level for level in Level if level in names)


def parse_kind(_context: click.Context, _parameter: click.Parameter, value: str) -> Kind:
    """Return the kind of sandbox that an option names."""
    return Kind(value)


def parse_words(
    _context: click.Context, _parameter: click.Parameter, value: str
) -> tuple[str, ...]:
    """Return the words of an option, separated by commas or spaces."""
    return tuple(value.replace(",", " ").split())


def _parse_gate(fail_on: str, scoring: str) -> "FailOn":
    from reb_action.judge import gate
    from reb_action.model.verdict import Scoring

    return gate.parse_fail_on(fail_on, scoring=Scoring(scoring))


def _levels_of(_context: click.Context, _parameter: click.Parameter, value: str) -> object:
    return parse_levels(value)


folder_argument = click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON to standard output.")
deadline_option = click.option(
    "--deadline",
    "ends_at",
    envvar="REB_DEADLINE",
    type=click.IntRange(0),
    help="End of the job, in seconds since the epoch. A step that may not finish is not started.",
)
levels_option = click.option(
    "--levels",
    envvar="REB_LEVELS",
    default=",".join(Level),
    show_default=True,
    callback=_levels_of,
    help="Levels to measure, separated by commas.",
)
gate_options = pass_group(
    "fail_on",
    _parse_gate,
    click.option(
        "--fail-on",
        envvar="REB_FAIL_ON",
        default="invalid",
        show_default=True,
        help="What fails the job: never, invalid (a fault of reb or the runner, or a missing"
        " trial), any, or levels that must pass, separated by commas.",
    ),
    click.option(
        "--scoring",
        envvar="REB_SCORING",
        default="strict",
        show_default=True,
        type=click.Choice(["strict", "paper"]),
        help="Rules that decide the outcome: strict (proof and fairness) or paper (its formulas)."
        " Both are shown.",
    ),
)
sandbox_option = click.option(
    "--sandbox",
    envvar="REB_SANDBOX",
    default="docker",
    show_default=True,
    type=click.Choice(["docker", "local"]),
    callback=parse_kind,
    help="docker, or local: a folder on this machine, without isolation.",
)
image_option = click.option(
    "--image",
    envvar="REB_IMAGE",
    default="researchenvbench-agent:latest",
    show_default=True,
    help="Image of the docker sandbox; pin it by digest.",
)
agent_seconds_option = click.option(
    "--agent-seconds",
    envvar="REB_AGENT_SECONDS",
    default=AGENT_SECONDS,
    show_default=True,
    type=click.IntRange(1, 86400),
    help="Time limit of the agent, in seconds.",
)
model_option = click.option(
    "--model",
    envvar="REB_MODEL",
    help="Model of the agent, by the vendor's name. The key is read from REB_MODEL_KEY.",
)
model_url_option = click.option(
    "--model-url",
    envvar="REB_MODEL_URL",
    help="URL of the model's API. By default the vendor's, in the agent's dialect.",
)
model_options = pass_group(
    "model_options",
    ModelOptions,
    model_option,
    model_url_option,
    click.option(
        "--budget-calls",
        envvar="REB_BUDGET_CALLS",
        type=click.IntRange(1),
        help="Maximum model calls per trial.",
    ),
    click.option(
        "--budget-tokens",
        envvar="REB_BUDGET_TOKENS",
        type=click.IntRange(1),
        help="Maximum tokens per trial, input and output together.",
    ),
    click.option(
        "--budget-usd",
        envvar="REB_BUDGET_USD",
        type=click.FloatRange(0, min_open=True),
        help="Maximum US dollars per trial, by list prices. The model must have a known price.",
    ),
    click.option(
        "--prices",
        envvar="REB_PRICES",
        type=click.Path(path_type=Path, exists=True, dir_okay=False),
        help="YAML file of model prices; overrides the prices that come with reb.",
    ),
    click.option(
        "--repeat-limit",
        envvar="REB_REPEAT_LIMIT",
        default=100,
        show_default=True,
        type=click.IntRange(0),
        help="Stop the agent after this many equal tool calls with equal results; 0: never.",
    ),
    click.option(
        "--accept-other-model",
        envvar="REB_ACCEPT_OTHER_MODEL",
        is_flag=True,
        default=False,
        help="Count a trial in which a model other than the requested one answered.",
    ),
    click.option(
        "--direct-key",
        envvar="REB_DIRECT_KEY",
        is_flag=True,
        default=False,
        help="Pass the API key to the agent, bypassing the gateway. Budgets are not enforced.",
    ),
    click.option(
        "--disposable",
        envvar="REB_DISPOSABLE",
        is_flag=True,
        default=False,
        help="Confirm that this machine is discarded after the job; allows model-driven agents in"
        " the local sandbox.",
    ),
)
place_options = pass_group(
    "place",
    PlaceOptions,
    sandbox_option,
    image_option,
    click.option(
        "--mirror",
        envvar="REB_MIRROR",
        type=click.Path(path_type=Path, exists=True),
        help="Folder with git mirrors, each at owner/name, owner/name.git, owner__name or"
        " owner+name/repo, or a single repository. Missing commits are fetched from GitHub.",
    ),
    click.option(
        "--gpus",
        envvar="REB_GPUS",
        default=0,
        show_default=True,
        type=click.IntRange(0, 64),
        help="Number of GPUs available. Without enough of them C2, C3 and C4 are invalid.",
    ),
    click.option(
        "--network",
        envvar="REB_NETWORK",
        default="open",
        show_default=True,
        type=click.Choice(["open", "allowed", "none"]),
        help="Network access of the agent besides its model. allowed: the hosts of --allow-hosts.",
    ),
    click.option(
        "--allow-hosts",
        envvar="REB_ALLOW_HOSTS",
        default="",
        help="Hosts that --network allowed permits, such as pypi.org, *.pythonhosted.org,"
        " mirror:8080.",
    ),
)
repository_argument = click.argument("repository", envvar="REB_REPOSITORY")
_RUNNER_GROUP: Final = pass_group("runner", RunnerOptions)
runner_options = add_options(
    agent_seconds_option,
    click.option(
        "--idle-seconds",
        envvar="REB_IDLE_SECONDS",
        default=IDLE_SECONDS,
        show_default=True,
        type=click.IntRange(1, 86400),
        help="Stop the agent after this many seconds without output from it or its model.",
    ),
    place_options,
    model_options,
    levels_option,
    _RUNNER_GROUP,
)
"""Adds the options that all trials of a job share, as one value `runner`."""

trial_options = add_options(
    pass_group(
        "trial",
        TrialOptions,
        repository_argument,
        click.option(
            "--agent",
            envvar="REB_AGENT",
            default="pip",
            show_default=True,
            help="Agent from `reb agents`, or the path of an agent file (.yaml).",
        ),
        click.option(
            "--agent-argument",
            envvar="REB_AGENT_ARGUMENT",
            help="Command line of the agent `command`, folder of the agent `replay`.",
        ),
        click.option(
            "--attempt",
            envvar="REB_ATTEMPT",
            default=1,
            show_default=True,
            type=click.IntRange(1, 1000),
            help="Number of this attempt; part of the trial's id.",
        ),
        click.option(
            "--results",
            "folder",
            envvar="REB_RESULTS",
            type=click.Path(path_type=Path, file_okay=False),
            help="Folder for the trial; must not exist.  [default: results/<trial>]",
        ),
    ),
    runner_options,
)
"""Adds the options of one trial, as the values `trial` and `runner`."""


def artifact_options(*, required: bool) -> Decorator:
    """Return a decorator that adds the options for this run's plan and artifacts."""
    plan = click.option(
        "--plan",
        "path",
        envvar="REB_PLAN",
        required=required,
        type=click.Path(path_type=Path, exists=True, dir_okay=False),
        help="Path of plan.json of this run.",
    )
    artifacts = click.option(
        "--artifacts",
        "folder",
        envvar="REB_ARTIFACTS",
        required=required,
        type=click.Path(path_type=Path, file_okay=False),
        help="Folder with one folder for each downloaded artifact; may be missing.",
    )
    return add_options(plan, artifacts)
