"""The options of a runner: limits, sandbox, network, model and levels, each group as one value."""

from typing import Final

import click

from reb_action.cli.groups import (
    IDLE_SECONDS,
    REPEAT_LIMIT,
    SETUP_SECONDS,
    ModelOptions,
    PlaceOptions,
    RunnerOptions,
)
from reb_action.cli.options import (
    COUNT,
    FILE,
    PATH,
    SECONDS,
    add_options,
    agent_seconds_option,
    image_option,
    levels_option,
    model_option,
    model_url_option,
    option,
    parse_protocol,
    pass_group,
    sandbox_option,
)
from reb_action.model.limits import RESUME_HOURS

model_options = pass_group(
    "model_options",
    ModelOptions,
    model_option,
    model_url_option,
    option(
        "--budget-calls",
        type=COUNT,
        help="Maximum model calls per trial.",
    ),
    option(
        "--budget-tokens",
        type=COUNT,
        help="Maximum tokens per trial, input and output together.",
    ),
    option(
        "--budget-usd",
        type=click.FloatRange(0, min_open=True),
        help="Maximum US dollars per trial, by list prices. The model must have a known price.",
    ),
    option(
        "--prices",
        type=FILE,
        help="YAML file of model prices; overrides the prices that come with reb.",
    ),
    option(
        "--repeat-limit",
        default=REPEAT_LIMIT,
        type=click.IntRange(0),
        help="Stop the agent after this many equal tool calls with equal results; 0: never.",
    ),
    option(
        "--accept-other-model",
        is_flag=True,
        default=False,
        help="Count a trial in which a model other than the requested one answered.",
    ),
    option(
        "--no-preflight",
        is_flag=True,
        default=False,
        help="Skip the test request to the model before the agent starts.",
    ),
    option(
        "--direct-key",
        is_flag=True,
        default=False,
        help="Pass the API key to the agent, bypassing the gateway. Budgets are not enforced.",
    ),
    option(
        "--disposable",
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
    option(
        "--mirror",
        type=PATH,
        help="Folder with git mirrors, each at owner/name, owner/name.git, owner__name or"
        " owner+name/repo, or a single repository. Missing commits are fetched from GitHub.",
    ),
    option(
        "--gpus",
        default=0,
        type=click.IntRange(0, 64),
        help="Number of GPUs available. With too few, C2, C3 and C4 are invalid.",
    ),
    option(
        "--network",
        default="open",
        type=click.Choice(["open", "allowed", "none"]),
        help="Network access of the agent besides its model. allowed: the hosts of --allow-hosts.",
    ),
    option(
        "--allow-hosts",
        default="",
        help="Hosts that --network allowed permits, such as pypi.org, *.pythonhosted.org,"
        " mirror:8080.",
    ),
    option(
        "--memory-mib",
        type=click.IntRange(256, 2**24),
        help="Memory of the docker sandbox, in MiB. By default the machine's memory minus a"
        " reserve.",
    ),
    option(
        "--shm-mib",
        type=click.IntRange(1, 2**24),
        help="Shared memory (/dev/shm) of the docker sandbox, in MiB. By default a quarter of its"
        " memory.",
    ),
    option(
        "--processes",
        type=click.IntRange(64, 2**22),
        help="Maximum processes and threads in the docker sandbox. By default derived from"
        " the machine.",
    ),
    option(
        "--disk-mib",
        type=click.IntRange(64, 2**30),
        help="Disk that the sandbox may use, in MiB. By default all free space minus a reserve.",
    ),
    # Not an input of the action: a runner of GitHub keeps no trial from one job to the next.
    click.option(
        "--resume-hours",
        default=RESUME_HOURS,
        show_default=True,
        type=click.FloatRange(0, 8760),
        help="Keep the sandboxes of killed trials for this many hours, so that reb agent can"
        " resume them. 0: remove them.",
    ),
)
_RUNNER_GROUP: Final = pass_group("runner", RunnerOptions)
runner_options = add_options(
    agent_seconds_option,
    option(
        "--idle-seconds",
        default=IDLE_SECONDS,
        type=SECONDS,
        help="Stop the agent after this many seconds without output from it or its model.",
    ),
    option(
        "--setup-seconds",
        default=SETUP_SECONDS,
        type=SECONDS,
        help="Time limit for installing and placing the agent's program, in seconds.",
    ),
    option(
        "--protocol",
        default="standard",
        type=click.Choice(["standard", "paper"]),
        help="Task and rules of the agent: standard, or paper (its prompt and root access,"
        " one retry if there is no report, no idle or repeat limit).",
        callback=parse_protocol,
    ),
    place_options,
    model_options,
    levels_option,
    _RUNNER_GROUP,
)
"""Adds the options that all trials of a job share, as one value `runner`."""
