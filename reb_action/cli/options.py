"""The options that commands share, and how an option is made."""

import os
from collections.abc import Callable
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import click
from click.core import ParameterSource

from reb_action.cli.completion import complete_repositories
from reb_action.cli.groups import AGENT_SECONDS
from reb_action.errors import UsageError
from reb_action.model.agent import Protocol, Resume
from reb_action.model.manifest import Level
from reb_action.sandbox.protocol import Kind
from reb_action.session.layout import SessionLayout

if TYPE_CHECKING:
    from reb_action.judge.gate import FailOn

T = TypeVar("T")
Command = Callable[..., object]
Decorator = Callable[[Command], Command]

_LEVELS: Final = ", ".join(Level)


SECONDS: Final = click.IntRange(1, 86400)
COUNT: Final = click.IntRange(1)
ATTEMPTS: Final = click.IntRange(1, 1000)
PATH: Final = click.Path(path_type=Path, exists=True)
FILE: Final = click.Path(path_type=Path, exists=True, dir_okay=False)
NEW_FILE: Final = click.Path(path_type=Path, dir_okay=False)
FOLDER: Final = click.Path(path_type=Path, file_okay=False)


def option(name: str, *parameter: str, **settings: object) -> Decorator:
    """Return an option that the action's input of the same name can set too: REB_<NAME>.

    Its help shows the default, except of a flag and of an empty text. `parameter` is the name of
    its value.
    """
    long_name = name.partition("/")[0].removeprefix("--")
    variable = "REB_" + long_name.upper().replace("-", "_")
    shown = "is_flag" not in settings and settings.get("default", "") != ""
    return click.option(
        name, *parameter, cls=click.Option, envvar=variable, show_default=shown, **settings
    )


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


def parse_protocol(_context: click.Context, _parameter: click.Parameter, value: str) -> Protocol:
    """Return the protocol that an option names."""
    return Protocol(value)


def parse_resume(_context: click.Context, _parameter: click.Parameter, value: str) -> Resume:
    """Return what becomes of an agent that was interrupted."""
    return Resume(value)


def demand_one_list(context: click.Context, parameter: click.Parameter, value: T) -> T:
    """Refuse agents of the command line together with a contestants file, which replaces them.

    An input of the action always has a value, its default.
    """
    given = [
        name
        for name in ("contestants", "agents", "agent")
        if name == parameter.name or name in context.params
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    ]
    if len(given) > 1:
        raise UsageError(f"--contestants and --{given[1]} exclude each other; remove one of them")
    return value


def parse_words(
    _context: click.Context, _parameter: click.Parameter, value: str
) -> tuple[str, ...]:
    """Return the words of an option, separated by commas or spaces."""
    return tuple(value.replace(",", " ").split())


def _parse_gate(fail_on: str, scoring: str) -> "FailOn":
    from reb_action.judge import gate
    from reb_action.model.verdict import Scoring

    return gate.parse_fail_on(fail_on, scoring=Scoring(scoring))


def _levels_of(context: click.Context, parameter: click.Parameter, value: str) -> object:
    """Return the levels; an input of a workflow that is empty is not the default."""
    is_default = context.get_parameter_source(str(parameter.name)) is ParameterSource.DEFAULT
    empty = is_default and os.environ.get("REB_LEVELS") is not None
    return parse_levels("" if empty else value)


folder_argument = click.argument("folder", type=FOLDER)
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON to standard output.")
deadline_option = option(
    "--deadline",
    "ends_at",
    type=click.IntRange(0),
    help="End of the job, in seconds since the epoch. A step that may not finish is not started.",
)
sequential_option = option(
    "--sequential",
    is_flag=True,
    help="Stop when no other trial can change the answer of --fail-on regression or broken.",
)
live_option = option(
    "--live/--no-live",
    default=True,
    help="Show each turn of the agent: tool, command, tokens, cost.",
)


def make_levels_option(verb: str) -> Decorator:
    """Return the option of the levels to measure, compare or publish."""
    return option(
        "--levels",
        default=",".join(Level),
        callback=_levels_of,
        help=f"Levels to {verb}, separated by commas.",
    )


levels_option = make_levels_option("measure")
gate_options = pass_group(
    "fail_on",
    _parse_gate,
    option(
        "--fail-on",
        default="invalid",
        help="What fails the job: never, invalid (a fault of reb or the runner, or a missing"
        " trial), any, regression or broken (against the base), or what must pass:"
        " levels, and setup (the agent documented), separated by commas.",
    ),
    option(
        "--scoring",
        default="strict",
        type=click.Choice(["strict", "paper"]),
        help="Rules that decide the outcome: strict (proof and fairness) or paper (its formulas)."
        " Both are shown.",
    ),
)
sandbox_option = option(
    "--sandbox",
    default="docker",
    type=click.Choice(["docker", "local"]),
    callback=parse_kind,
    help="docker, or local: a folder on this machine, without isolation.",
)
image_option = option(
    "--image",
    default="researchenvbench-agent:latest",
    help="Image of the docker sandbox; pin it by digest.",
)
agent_seconds_option = option(
    "--agent-seconds",
    default=AGENT_SECONDS,
    type=SECONDS,
    help="Time limit of the agent, in seconds.",
)
model_option = option(
    "--model",
    help="Model of the agent, by the vendor's name. The key is read from REB_MODEL_KEY.",
)
model_url_option = option(
    "--model-url",
    help="URL of the model's API. By default the vendor's, in the agent's dialect.",
)
repository_argument = click.argument(
    "repository", envvar="REB_REPOSITORY", shell_complete=complete_repositories
)


def artifact_options(*, required: bool) -> Decorator:
    """Return a decorator that adds the options for this run's plan and artifacts."""
    plan = option(
        "--plan",
        "path",
        required=required,
        type=FILE,
        help="Path of plan.json of this run.",
    )
    artifacts = option(
        "--artifacts",
        "folder",
        required=required,
        type=FOLDER,
        help="Folder with one folder for each downloaded artifact; may be missing.",
    )
    return add_options(plan, artifacts)


def find_trial(folder: Path) -> SessionLayout:
    """Return the layout of a folder that has a trial; raises UsageError."""
    from reb_action.session.state import demand_trial

    layout = SessionLayout(folder=folder.absolute())
    demand_trial(layout)
    return layout
