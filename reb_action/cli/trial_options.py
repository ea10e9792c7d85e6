"""The options of a trial and of its runner, each group as one value."""

from pathlib import Path
from typing import Final

import click

from reb_action.cli.groups import (
    IDLE_SECONDS,
    REPEAT_LIMIT,
    SETUP_SECONDS,
    ModelOptions,
    PlaceOptions,
    RunnerOptions,
    TrialOptions,
    WhoOptions,
)
from reb_action.cli.options import (
    add_options,
    agent_seconds_option,
    image_option,
    levels_option,
    model_option,
    model_url_option,
    parse_protocol,
    pass_group,
    repository_argument,
    sandbox_option,
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
        default=REPEAT_LIMIT,
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
        "--no-preflight",
        envvar="REB_NO_PREFLIGHT",
        is_flag=True,
        default=False,
        help="Do not ask the model once before the agent starts.",
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
    click.option(
        "--memory-mib",
        envvar="REB_MEMORY_MIB",
        type=click.IntRange(256, 2**24),
        help="Memory of the docker sandbox, in MiB. By default that of the machine, less a"
        " reserve.",
    ),
    click.option(
        "--shm-mib",
        envvar="REB_SHM_MIB",
        type=click.IntRange(1, 2**24),
        help="Shared memory (/dev/shm) of the docker sandbox, in MiB. By default a quarter of its"
        " memory.",
    ),
    click.option(
        "--processes",
        envvar="REB_PROCESSES",
        type=click.IntRange(64, 2**22),
        help="Maximum processes and threads in the docker sandbox. By default from the machine.",
    ),
)
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
    click.option(
        "--setup-seconds",
        envvar="REB_SETUP_SECONDS",
        default=SETUP_SECONDS,
        show_default=True,
        type=click.IntRange(1, 86400),
        help="Time limit for installing and placing the agent's program, in seconds.",
    ),
    click.option(
        "--protocol",
        envvar="REB_PROTOCOL",
        default="standard",
        show_default=True,
        type=click.Choice(["standard", "paper"]),
        help="Task and rules of the agent: standard, or paper (its wording, root where it had"
        " root, one retry without a report, no idle or repeat limit).",
        callback=parse_protocol,
    ),
    place_options,
    model_options,
    levels_option,
    _RUNNER_GROUP,
)
"""Adds the options that all trials of a job share, as one value `runner`."""

contestants_option = click.option(
    "--contestants",
    envvar="REB_CONTESTANTS",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="YAML file of contestants: agents with models, options and budgets. It replaces agents.",
)
who_options = pass_group(
    "who",
    WhoOptions,
    click.option(
        "--repositories",
        envvar="REB_REPOSITORIES",
        required=True,
        help="all, names or patterns such as owner/*, or manifest files (.yaml), separated by"
        " commas or lines.",
    ),
    click.option(
        "--agents",
        envvar="REB_AGENTS",
        default="pip",
        show_default=True,
        help="Agent names or files (.yaml), separated by commas or lines. On a line of its own, an"
        " agent can be followed by its argument.",
    ),
    contestants_option,
    click.option(
        "--attempts",
        envvar="REB_ATTEMPTS",
        default=1,
        show_default=True,
        type=click.IntRange(1, 1000),
        help="Attempts of each contestant on each repository.",
    ),
)
"""Adds the options that say which trials there are, as the value `who`."""

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
            "--contestant",
            envvar="REB_CONTESTANT",
            help="Id of the contestant: letters, digits, _ and -. By default the agent, and its"
            " model if it has one. Part of the trial's id.",
        ),
        contestants_option,
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
