"""The options that name trials: one trial, or those of a plan."""

from reb_action.cli.completion import complete_agents, complete_repositories
from reb_action.cli.groups import TrialOptions, WhoOptions
from reb_action.cli.options import (
    ATTEMPTS,
    FILE,
    FOLDER,
    add_options,
    demand_one_list,
    option,
    pass_group,
    repository_argument,
)
from reb_action.cli.runner_options import runner_options

contestants_option = option(
    "--contestants",
    type=FILE,
    callback=demand_one_list,
    help="YAML file of contestants: agents with models, options and budgets. It replaces agents.",
)
who_options = pass_group(
    "who",
    WhoOptions,
    option(
        "--repositories",
        shell_complete=complete_repositories,
        required=True,
        help="all, names or patterns such as owner/*, or manifest files (.yaml), separated by"
        " commas or lines.",
    ),
    option(
        "--agents",
        shell_complete=complete_agents,
        default="pip",
        callback=demand_one_list,
        help="Agent names or files (.yaml), separated by commas or lines. On a line of its own, an"
        " agent can be followed by its argument.",
    ),
    contestants_option,
    option(
        "--attempts",
        default=1,
        type=ATTEMPTS,
        help="Attempts of each contestant on each repository.",
    ),
)
"""Adds the options that select the trials, as the value `who`."""

trial_options = add_options(
    pass_group(
        "trial",
        TrialOptions,
        repository_argument,
        option(
            "--agent",
            shell_complete=complete_agents,
            default="pip",
            callback=demand_one_list,
            help="Agent from `reb agents`, or the path of an agent file (.yaml).",
        ),
        option(
            "--agent-argument",
            help="Command line of the agent `command`, folder of the agent `replay`.",
        ),
        option(
            "--contestant",
            help="Id of the contestant: letters, digits, _ and -. By default the agent, and its"
            " model if it has one. Part of the trial's id.",
        ),
        contestants_option,
        option(
            "--attempt",
            default=1,
            type=ATTEMPTS,
            help="Number of this attempt; part of the trial's id.",
        ),
        option(
            "--results",
            "folder",
            type=FOLDER,
            help="Folder for the trial; must not exist.  [default: results/<trial>]",
        ),
    ),
    runner_options,
)
"""Adds the options of one trial, as the values `trial` and `runner`."""
