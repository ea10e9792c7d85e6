"""The commands that workflows call: plan, batch, gate, report, publish."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from reb_action.cli.options import (
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
from reb_action.errors import DeadlineError, GateError, GitHubError, SandboxError
from reb_action.model.verdict import Scoring
from reb_action.publish.options import KEY, ChecksMode, CommentMode, FaultMode
from reb_action.session.layout import SessionLayout


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
    from reb_action.cli import arguments
    from reb_action.github import commands, context
    from reb_action.results import plan_file

    here = context.read_context(os.environ)
    made = arguments.plan(chosen, here)
    plan_file.write(made, path)
    entries = plan_file.entries_json(made)
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
    from reb_action.cli import arguments
    from reb_action.cli.console import telling
    from reb_action.github import commands, context
    from reb_action.results import plan_file
    from reb_action.workflow import batch as running

    todo = arguments.batch(chosen, plan_file.trials(trials), folder)
    with telling(quiet=False) as tell:
        ended = running.run(todo, ends_at=ends_at, environ=os.environ, tell=tell)
    found = {"done": ended.done, "broken": ended.broken, "continue": ended.left}
    told = {name: " ".join(names) for name, names in found.items()}
    commands.write_outputs(context.read_context(os.environ), {**told, "folder": str(folder)})
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
    from reb_action.github import context
    from reb_action.judge import gate as rules
    from reb_action.workflow import gate as workflow_gate

    layout = SessionLayout(folder=folder.absolute())
    wanted = rules.parse_fail_on(fail_on, scoring=Scoring(scoring))
    decision = workflow_gate.conclude(layout, wanted, context.read_context(os.environ))
    click.echo(f"{decision.standing}; highest level: {decision.highest or 'none'}")
    _close(decision.closed)


@click.command()
@artifact_options(required=True)
@levels_option
@fail_on_option
@scoring_option
def report(*, path: Path, folder: Path, levels: str, fail_on: str, scoring: str) -> None:
    """Hold the artifacts of a run against its plan: a summary, and what has to run again."""
    from reb_action.cli import arguments
    from reb_action.github import context
    from reb_action.judge import gate as rules
    from reb_action.workflow import report as workflow_report

    closed = workflow_report.report(
        path,
        folder,
        levels=arguments.parse_levels(levels),
        fail_on=rules.parse_fail_on(fail_on, scoring=Scoring(scoring)),
        context=context.read_context(os.environ),
        tell=click.echo,
    )
    _close(closed)


@click.command()
@artifact_options(required=False)
@click.option(
    "--run-id",
    envvar="REB_RUN_ID",
    type=click.IntRange(1),
    help="Another run instead, about which the API is asked; its artifacts are a stranger's data.",
)
@levels_option
@fail_on_option
@scoring_option
@click.option(
    "--comment",
    envvar="REB_COMMENT",
    default="off",
    show_default=True,
    type=click.Choice([one.value for one in CommentMode]),
    help="When a pull request gets a comment; one that is there is always brought up to date.",
)
@click.option(
    "--checks",
    envvar="REB_CHECKS",
    default="off",
    show_default=True,
    type=click.Choice([one.value for one in ChecksMode]),
    help="Check runs: one for each level, or for each of at most 50 trials.",
)
@click.option(
    "--leaderboard",
    envvar="REB_LEADERBOARD",
    default=False,
    show_default=True,
    type=click.BOOL,
    help="Write badges and the site to their branch; only runs of the default branch do.",
)
@click.option(
    "--key",
    envvar="REB_KEY",
    default=KEY,
    show_default=True,
    help="Tells several benchmarks of one repository apart: a-z, 0-9 and -.",
)
@click.option(
    "--on-write-fault",
    envvar="REB_ON_WRITE_FAULT",
    default="warn",
    show_default=True,
    type=click.Choice([one.value for one in FaultMode]),
    help="What a write that GitHub refuses does: warn, or fail with exit code 10.",
)
@click.option(
    "--token", envvar="REB_TOKEN", default="", help="Token that writes; give it by REB_TOKEN."
)
def publish(
    *,
    path: Path | None,
    folder: Path | None,
    run_id: int | None,
    levels: str,
    fail_on: str,
    scoring: str,
    token: str,
    on_write_fault: str,
    **chosen: object,
) -> None:
    """Write check runs, a comment and the leaderboard of a run: each once, none without need."""
    from reb_action.cli import arguments
    from reb_action.github import context
    from reb_action.judge import gate as judge_gate
    from reb_action.publish import publish as publisher

    choice = arguments.publish_options(chosen)
    wanted = judge_gate.parse_fail_on(fail_on, scoring=Scoring(scoring))
    job = publisher.Job(environ=os.environ, token=token, choice=choice, fail_on=wanted)
    here = context.read_context(os.environ)
    with TemporaryDirectory() as place:
        if run_id is not None:
            done = publisher.of_run(job, run_id, Path(place), here)
        else:
            done = publisher.here(job, path, folder, levels=arguments.parse_levels(levels))
        faults = publisher.told(done, here, tell=click.echo)
    if faults is not None and on_write_fault == FaultMode.FAIL:
        raise GitHubError(faults)


WORKFLOW = (plan, batch, gate, report, publish)


def _close(reason: str | None) -> None:
    from reb_action.render.escape import log

    if reason is not None:
        raise GateError(f"the gate is closed: {log(reason)}")
