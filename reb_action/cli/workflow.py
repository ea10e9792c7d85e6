"""The commands that workflows call: plan, batch, gate, report."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reb_action.cli.groups import PlanOptions, RunnerOptions
from reb_action.cli.options import (
    agent_seconds_option,
    artifact_options,
    deadline_option,
    folder_argument,
    gate_options,
    levels_option,
    live_option,
    model_option,
    model_url_option,
    parse_words,
    pass_group,
)
from reb_action.cli.publish import publish
from reb_action.cli.trial_options import runner_options
from reb_action.errors import DeadlineError, GateError, SandboxError
from reb_action.model.manifest import Level
from reb_action.session.layout import SessionLayout

if TYPE_CHECKING:
    from reb_action.judge.gate import FailOn


plan_options = pass_group(
    "options",
    PlanOptions,
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
    click.option(
        "--attempts",
        envvar="REB_ATTEMPTS",
        default=1,
        show_default=True,
        type=click.IntRange(1, 1000),
        help="Attempts of each agent on each repository.",
    ),
    click.option(
        "--only",
        envvar="REB_ONLY",
        default="",
        callback=parse_words,
        help="Trial ids or patterns to keep, such as the run-again of an earlier report.",
    ),
    click.option(
        "--without",
        envvar="REB_WITHOUT",
        default="",
        callback=parse_words,
        help="Trial ids or patterns to drop.",
    ),
    click.option(
        "--changed-since",
        envvar="REB_CHANGED_SINCE",
        help="Keep only trials whose manifest or agent file differs from this commit, such as"
        " HEAD^1.",
    ),
    click.option(
        "--max-jobs",
        envvar="REB_MAX_JOBS",
        default=256,
        show_default=True,
        type=click.IntRange(1, 256),
        help="Maximum number of jobs. More trials than that run in batches.",
    ),
    click.option(
        "--durations",
        envvar="REB_DURATIONS",
        type=click.Path(path_type=Path, exists=True),
        help="Path of durations.json of an earlier report, to balance the batches.",
    ),
    click.option(
        "--runs-on",
        envvar="REB_RUNS_ON",
        default='"ubuntu-latest"',
        show_default=True,
        help="Labels of the runners, as JSON. Pull requests from forks need hosted or ephemeral"
        " runners.",
    ),
    agent_seconds_option,
    model_option,
    model_url_option,
    click.option(
        "--has-model-key",
        envvar="REB_HAS_MODEL_KEY",
        is_flag=True,
        default=False,
        help="The trials have the model's key. The plan itself does not need it.",
    ),
)


@click.command()
@plan_options
@click.option(
    "--plan",
    "path",
    envvar="REB_PLAN",
    default=Path("plan.json"),
    show_default=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="Output path of the plan.",
)
def plan(*, options: PlanOptions, path: Path) -> None:
    """Generate the job matrix.

    A plan that could not run, or not safely, is a usage error.
    """
    from reb_action.cli import arguments
    from reb_action.github import commands, context
    from reb_action.results import plan_file

    runner = context.read_context(os.environ)
    planned = arguments.make_plan(options, runner)
    plan_file.write_plan(planned, path)
    counts = {"count": str(len(planned.entries)), "trials": str(len(planned.trials))}
    outputs = {"entries": plan_file.entries_json(planned), **counts, "plan": str(path)}
    commands.write_outputs(runner, outputs)
    click.echo(f"{len(planned.trials)} trials in {len(planned.entries)} jobs: {path}")


@click.command()
@click.option(
    "--trials", envvar="REB_TRIALS", required=True, help="The trials of the entry, as JSON."
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
@live_option
@deadline_option
def batch(
    *, trials: str, folder: Path, runner: RunnerOptions, live: bool, ends_at: int | None
) -> None:
    """Run the trials of one matrix entry in sequence."""
    from reb_action.cli import arguments
    from reb_action.cli.console import show_progress
    from reb_action.github import commands, context
    from reb_action.results import plan_file
    from reb_action.workflow.batch import run_batch

    batch_trials = arguments.make_batch(plan_file.parse_trials(trials), folder, runner)
    with show_progress(quiet=False) as tell:
        result = run_batch(batch_trials, ends_at=ends_at, environ=os.environ, tell=tell, live=live)
    groups = {"done": result.done, "broken": result.broken, "continue": result.remaining}
    outputs = {name: " ".join(trials) for name, trials in groups.items()}
    commands.write_outputs(context.read_context(os.environ), {**outputs, "folder": str(folder)})
    if result.remaining:
        raise DeadlineError(
            f"no time left in this job for {', '.join(result.remaining)}; run them in another job"
        )
    if result.broken:
        raise SandboxError(
            f"could not run {', '.join(result.broken)}; see above and run them again"
        )


@click.command()
@folder_argument
@gate_options
def gate(folder: Path, *, fail_on: "FailOn") -> None:
    """Set the job's exit code from a trial's results. Missing results fail.

    Exit code 0: passed. 7: failed by --fail-on.
    """
    from reb_action.github import context
    from reb_action.workflow.gate import conclude_trial

    layout = SessionLayout(folder=folder.absolute())
    decision = conclude_trial(layout, fail_on, context.read_context(os.environ))
    click.echo(f"{decision.standing}; highest level: {decision.highest or 'none'}")
    _fail_on(decision.closed)


@click.command()
@artifact_options(required=True)
@levels_option
@gate_options
def report(*, path: Path, folder: Path, levels: tuple[Level, ...], fail_on: "FailOn") -> None:
    """Summarise a run and list missing trials."""
    from reb_action.github import context
    from reb_action.workflow.report import report_run

    reason = report_run(
        path,
        folder,
        levels=levels,
        fail_on=fail_on,
        context=context.read_context(os.environ),
        tell=click.echo,
    )
    _fail_on(reason)


WORKFLOW = (plan, batch, gate, report, publish)


def _fail_on(reason: str | None) -> None:
    from reb_action.render.escape import log

    if reason is not None:
        raise GateError(f"failed by --fail-on: {log(reason)}")
