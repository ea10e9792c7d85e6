"""The commands of `reb` that workflows call: plan, batch, gate, report."""

import os
from pathlib import Path

import click

from reb_action.cli_options import (
    agent_seconds_option,
    artifact_options,
    deadline_option,
    fail_on_option,
    folder_argument,
    levels_option,
    model_option,
    model_url_option,
    runner_options,
    scoring_option,
)
from reb_action.errors import DeadlineError, GateError, SandboxError
from reb_action.layout import SessionLayout
from reb_action.model.verdict import Scoring


@click.command()
@click.option(
    "--repositories",
    envvar="REB_REPOSITORIES",
    required=True,
    help="all, names or patterns such as owner/*, manifest files: commas or lines between them.",
)
@click.option(
    "--agents",
    envvar="REB_AGENTS",
    default="pip",
    show_default=True,
    help="Names or YAML files; on lines of their own each may be followed by its argument.",
)
@click.option(
    "--attempts",
    envvar="REB_ATTEMPTS",
    default=1,
    show_default=True,
    type=click.IntRange(1, 1000),
    help="Attempts of each agent on each repository.",
)
@click.option("--only", envvar="REB_ONLY", default="", help="Trial ids or patterns to keep.")
@click.option("--without", envvar="REB_WITHOUT", default="", help="Trial ids or patterns to drop.")
@click.option(
    "--changed-since",
    envvar="REB_CHANGED_SINCE",
    help="A commit: keep the trials whose manifest or agent file differs from it.",
)
@click.option(
    "--max-jobs",
    envvar="REB_MAX_JOBS",
    default=256,
    show_default=True,
    type=click.IntRange(1, 256),
    help="Above this many trials, jobs run batches of them.",
)
@click.option(
    "--durations",
    envvar="REB_DURATIONS",
    type=click.Path(path_type=Path, exists=True),
    help="durations.json of an earlier report, to balance the batches by.",
)
@click.option(
    "--runs-on",
    envvar="REB_RUNS_ON",
    default='"ubuntu-latest"',
    show_default=True,
    help="Labels of the runners, as JSON.",
)
@agent_seconds_option
@model_option
@model_url_option
@click.option(
    "--has-model-key",
    envvar="REB_HAS_MODEL_KEY",
    is_flag=True,
    default=False,
    help="The trials will have the model's key; the plan itself has no use for it.",
)
@click.option(
    "--plan",
    "path",
    envvar="REB_PLAN",
    default=Path("plan.json"),
    show_default=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where to write the plan.",
)
def plan(*, path: Path, **chosen: object) -> None:
    """Make the matrix of a workflow; refuses, in one line, what could not run."""
    from reb_action import choosing, planning
    from reb_action.github import commands, context

    here = context.read(os.environ)
    made = choosing.plan(chosen, here)
    planning.write(made, path)
    entries = planning.entries_json(made)
    count = {"count": str(len(made.entries)), "trials": str(len(made.trials))}
    commands.write_outputs(here, {"entries": entries, **count, "plan": str(path)})
    click.echo(f"{len(made.trials)} trials in {len(made.entries)} jobs: {path}")


@click.command()
@click.option(
    "--trials", envvar="REB_TRIALS", required=True, help="The trials of one entry of the matrix."
)
@click.option(
    "--results",
    "folder",
    envvar="REB_RESULTS",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for the trials' folders.",
)
@runner_options
@deadline_option
def batch(*, trials: str, folder: Path, ends_at: int | None, **chosen: object) -> None:
    """Run the trials of one entry one after the other, and say which are left."""
    from reb_action import batch as running
    from reb_action import choosing, planning
    from reb_action.console import telling
    from reb_action.github import commands, context

    todo = choosing.batch(chosen, planning.trials(trials), folder)
    with telling(quiet=False) as tell:
        ended = running.run(todo, ends_at=ends_at, environ=os.environ, tell=tell)
    found = {"done": ended.done, "broken": ended.broken, "continue": ended.left}
    told = {name: " ".join(names) for name, names in found.items()}
    commands.write_outputs(context.read(os.environ), {**told, "folder": str(folder)})
    if ended.left:
        raise DeadlineError(f"continue with {', '.join(ended.left)}: this job's time is over")
    if ended.broken:
        raise SandboxError(f"run again: {', '.join(ended.broken)}; see the lines above")


@click.command()
@folder_argument
@fail_on_option
@scoring_option
def gate(folder: Path, *, fail_on: str, scoring: str) -> None:
    """Let the job pass or fail, from the files of the trial in FOLDER; absence never passes.

    Exit code 0: passed. 7: what --fail-on names has occurred.
    """
    from reb_action import conclusion
    from reb_action import gate as rules
    from reb_action.github import context

    layout = SessionLayout(folder=folder.absolute())
    wanted = rules.parse(fail_on, scoring=Scoring(scoring))
    decision = conclusion.conclude(layout, wanted, context.read(os.environ))
    click.echo(f"{decision.standing}; highest level: {decision.highest or 'none'}")
    _close(decision.closed)


@click.command()
@artifact_options(required=True)
@levels_option
@fail_on_option
@scoring_option
def report(*, path: Path, folder: Path, levels: str, fail_on: str, scoring: str) -> None:
    """Hold the artifacts of a run against its plan: a summary, and what has to run again."""
    from reb_action import choosing, reporting
    from reb_action import gate as rules
    from reb_action.github import context

    closed = reporting.report(
        path,
        folder,
        levels=choosing.parse_levels(levels),
        fail_on=rules.parse(fail_on, scoring=Scoring(scoring)),
        context=context.read(os.environ),
    )
    _close(closed)


COMMANDS = (plan, batch, gate, report)
"""What `reb` has beyond the phases of a trial."""


def _close(reason: str | None) -> None:
    from reb_action.render.escape import log

    if reason is not None:
        raise GateError(f"the gate is closed: {log(reason)}")
