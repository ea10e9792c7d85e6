"""The commands that workflows call: plan, gate, report; batch and publish have their own files."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reb_action.cli.batch import batch
from reb_action.cli.groups import PlanOptions, RunnerOptions, WhoOptions
from reb_action.cli.options import (
    COUNT,
    NEW_FILE,
    PATH,
    artifact_options,
    folder_argument,
    gate_options,
    levels_option,
    option,
    parse_words,
    pass_group,
    sequential_option,
)
from reb_action.cli.publish import base_option, key_option, publish, token_option
from reb_action.cli.runner_options import runner_options
from reb_action.cli.trial_options import who_options
from reb_action.errors import GateError
from reb_action.model.contestant import MODEL_KEY
from reb_action.model.manifest import Level
from reb_action.session.layout import SessionLayout

if TYPE_CHECKING:
    from reb_action.github.context import Context
    from reb_action.judge.gate import Decision, FailOn
    from reb_action.model.plan import Plan


plan_options = pass_group(
    "options",
    PlanOptions,
    option(
        "--only",
        default="",
        callback=parse_words,
        help="Trial ids or patterns to keep, such as the run-again output of an earlier report.",
    ),
    option(
        "--without",
        default="",
        callback=parse_words,
        help="Trial ids or patterns to drop.",
    ),
    option(
        "--changed-since",
        help="Keep only trials whose manifest, agent file or contestants file differs from this"
        " commit, such as HEAD^1.",
    ),
    option(
        "--max-jobs",
        default=256,
        type=click.IntRange(1, 256),
        help="Maximum number of jobs. If there are more trials, they run in batches.",
    ),
    option(
        "--durations",
        type=PATH,
        help="Path of durations.json of an earlier report, used to pack batches.",
    ),
    option(
        "--job-minutes",
        type=COUNT,
        help="timeout-minutes of the trials' jobs. Batches are packed so that every trial ends"
        " in time.",
    ),
    option(
        "--runs-on",
        default='"ubuntu-latest"',
        help="Labels of the runners, as JSON. Pull requests from forks need hosted or ephemeral"
        " runners.",
    ),
    option(
        "--runners",
        type=COUNT,
        help="Number of self-hosted runners. A plan whose jobs would wait too long is refused.",
    ),
    option(
        "--max-parallel",
        type=COUNT,
        help="Maximum number of jobs at once.",
    ),
    option(
        "--keys",
        default=MODEL_KEY,
        callback=parse_words,
        help="Names of the vendors' keys that the trials have. The plan itself needs no key.",
    ),
    sequential_option,
)


@click.command()
@who_options
@plan_options
@runner_options
@gate_options
@key_option
@base_option
@token_option
@option(
    "--plan",
    "path",
    default=Path("plan.json"),
    type=NEW_FILE,
    help="Output path of the plan.",
)
def plan(
    *,
    who: WhoOptions,
    options: PlanOptions,
    runner: RunnerOptions,
    fail_on: "FailOn",
    key: str,
    base: str,
    token: str,
    path: Path,
) -> None:
    """Generate the job matrix.

    A plan that cannot run, or cannot run safely, is a usage error. With --sequential the attempts
    of a contestant at a repository share a job. The base of a sequential run, and one that is a
    path, is written to base.json beside the plan; other bases than a path need a token.
    """
    from reb_action.cli.run_plan import make_plan
    from reb_action.github import commands, context
    from reb_action.judge.gate import demand_measured
    from reb_action.publish import publish as publisher
    from reb_action.publish.options import make_publish_options
    from reb_action.results import plan_file

    demand_measured(fail_on, runner.levels)
    runner_context = context.read_context(os.environ)
    planned = make_plan(who, options, runner, runner_context)
    plan_file.write_plan(planned, path)
    counts = {"count": str(len(planned.entries)), "trials": str(len(planned.trials))}
    outputs = {"entries": plan_file.entries_json(planned), **counts, "plan": str(path)}
    # The report's job does not check the caller's repository out, and has no such path.
    if planned.trials and (options.sequential or (base and Path(base).exists())):
        make_base = publisher.Job(
            environ=os.environ,
            token=token,
            options=make_publish_options("off", "off", leaderboard=False, key=key, base=base),
            fail_on=fail_on,
        )
        outputs["base"] = str(
            publisher.write_base(
                make_base, path, levels=runner.levels, sequential=options.sequential
            )
        )
    commands.write_outputs(runner_context, outputs)
    click.echo(_describe_plan(planned, path))


def _describe_plan(planned: "Plan", path: Path) -> str:
    """Return the size of a plan in trials, jobs and bytes."""
    from reb_action.model.quantity import count
    from reb_action.workflow import platform_limits

    sizes = (
        f"job output {platform_limits.measure_output(planned):,} bytes in UTF-16, longest list of"
        f" trials {platform_limits.measure_environment(planned):,} bytes"
    )
    trials, jobs = count(len(planned.trials), "trial"), count(len(planned.entries), "job")
    return f"{trials} in {jobs}: {path} ({sizes})"


@click.command()
@folder_argument
@gate_options
@option(
    "--last-pass",
    type=click.Path(path_type=Path),
    help="Folder of an earlier trial of the agent documented that passed; packages that changed"
    " since are named.",
)
def gate(folder: Path, *, fail_on: "FailOn", last_pass: Path | None) -> None:
    """Set the job's exit code from a trial's results. Missing results fail.

    Exit code 0: passed. 7: failed by --fail-on.
    """
    from reb_action.github import context
    from reb_action.workflow.trial_outputs import conclude_trial

    layout = SessionLayout(folder=folder.absolute())
    runner = context.read_context(os.environ)
    decision = conclude_trial(layout, fail_on, runner, last_pass=last_pass)
    click.echo(f"{decision.standing}; highest level: {decision.highest or 'none'}")
    _annotate(layout, decision, runner)
    _fail_on(decision.closed)


@click.command()
@artifact_options(required=True)
@levels_option
@gate_options
@key_option
@base_option
@token_option
def report(
    *,
    path: Path,
    folder: Path,
    levels: tuple[Level, ...],
    fail_on: "FailOn",
    key: str,
    base: str,
    token: str,
) -> None:
    """Summarise a run and list missing trials.

    With --fail-on regression or broken it is compared with --base, for which it needs a token.
    """
    from reb_action.github import context
    from reb_action.publish import publish as publisher
    from reb_action.publish.options import make_publish_options
    from reb_action.workflow.report import report_run

    reason = report_run(
        path,
        folder,
        levels=levels,
        fail_on=fail_on,
        context=context.read_context(os.environ),
        tell=click.echo,
    )
    if fail_on.regression is not None:
        options = make_publish_options("off", "off", leaderboard=False, key=key, base=base)
        job = publisher.Job(environ=os.environ, token=token, options=options, fail_on=fail_on)
        regression = publisher.check_regression(job, path, folder, levels=levels)
        reason = "; ".join(part for part in (reason, regression) if part is not None) or None
    _fail_on(reason)


WORKFLOW = (plan, batch, gate, report, publish)


def _annotate(layout: SessionLayout, decision: "Decision", runner: "Context") -> None:
    """Show on the run's page why levels did not pass: an error if that failed the job."""
    from reb_action.github.commands import format_error, format_notice
    from reb_action.render.escape import clean
    from reb_action.workflow.trial_outputs import explain_trial

    if runner.output is not None:
        trial, why = explain_trial(layout, decision.scoring, runner)
        if why:
            show = format_notice if decision.closed is None else format_error
            click.echo(show("\n".join((clean(trial), *why))))


def _fail_on(reason: str | None) -> None:
    from reb_action.render.escape import log

    if reason is not None:
        raise GateError(f"failed by --fail-on: {log(reason, limit=2000)}")
