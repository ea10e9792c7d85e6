"""The command batch: many trials on this machine."""

import os
from collections.abc import Mapping, MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reb_action.cli.groups import RunnerOptions, WhoOptions
from reb_action.cli.options import (
    FOLDER,
    PATH,
    deadline_option,
    gate_options,
    live_option,
    option,
    parse_words,
    sequential_option,
)
from reb_action.cli.runner_options import runner_options
from reb_action.cli.trial_options import who_options
from reb_action.errors import DeadlineError, GateError, SandboxError
from reb_action.model.contestant import KEY_NAMES, MODEL_KEY, key_variable

if TYPE_CHECKING:
    from reb_action.cli.run_plan import BatchTrial
    from reb_action.judge.gate import FailOn
    from reb_action.workflow.batch import BatchResult, Job, View
    from reb_action.workflow.sequential import Outlook


@click.command()
@who_options
@option(
    "--trials",
    default="",
    callback=parse_words,
    help="Trial ids or patterns to run.  [default: all]",
)
@option(
    "--results",
    "folder",
    required=True,
    type=FOLDER,
    help="Folder for the trials' folders. Finished trials in it are not run again.",
)
@option(
    "--earlier",
    type=FOLDER,
    help="Folder with artifacts of earlier attempts; finished trials in it are not run again.",
)
@option(
    "--jobs",
    default="1",
    help="Trials at a time, or auto: by cores, memory and GPUs. Local trials run one by one.",
)
@option(
    "--key-name",
    default=MODEL_KEY,
    type=click.Choice(KEY_NAMES),
    help="Name of the vendor's key in REB_MODEL_KEY. Other keys are read from REB_<NAME>_KEY.",
)
@option(
    "--base",
    type=PATH,
    help="Path of artifacts, a board or a scoreboard.json, with which --fail-on regression or"
    " broken compares.",
)
@sequential_option
@runner_options
@live_option
@gate_options
@deadline_option
def batch(
    *,
    who: WhoOptions,
    trials: tuple[str, ...],
    folder: Path,
    earlier: Path | None,
    jobs: str,
    key_name: str,
    base: Path | None,
    sequential: bool,
    runner: RunnerOptions,
    live: bool,
    fail_on: "FailOn",
    ends_at: int | None,
) -> None:
    """Run many trials; continue an interrupted batch.

    Exit code 7: a result matches --fail-on. 8: no time left for some trials. 4: some could not run.
    """
    from reb_action.cli.batch_outlook import make_outlook
    from reb_action.cli.batch_view import show_batch
    from reb_action.cli.run_plan import make_batch
    from reb_action.github import commands, context
    from reb_action.judge.gate import demand_measured
    from reb_action.workflow.batch import Batch
    from reb_action.workflow.capacity import choose_jobs
    from reb_action.workflow.gpus import GpuPool, list_gpus
    from reb_action.workflow.sequential import SequentialOrder

    demand_measured(fail_on, runner.levels)
    planned = make_batch(who, trials, folder.absolute(), runner)
    outlook = make_outlook(
        make_batch(who, (), folder.absolute(), runner), base, fail_on, sequential=sequential
    )
    keys = _take_keys(os.environ, key_name)
    runner_context = context.read_context(os.environ)
    # Now, because a killed job uploads the files that exist.
    commands.write_outputs(runner_context, {"folder": str(folder)})
    gpus = GpuPool(list_gpus() if runner.place.gpus else ())
    with show_batch(len(planned)) as view:
        if earlier is not None:
            _restore(planned, earlier, view)
        count = choose_jobs(
            jobs, planned[0].options, gpus=gpus.count, tell=lambda text: view.tell("", text)
        )
        order = SequentialOrder(outlook) if sequential and outlook is not None else None
        running = Batch(jobs=count, ends_at=ends_at, gpus=gpus, view=view, live=live, order=order)
        result = running.run(_jobs(planned, keys, os.environ))
    commands.write_outputs(runner_context, _outputs(result))
    _conclude(result, folder, runner, fail_on, outlook)


def _take_keys(environ: MutableMapping[str, str], key_name: str) -> dict[str, str]:
    """Take every vendor's key out of the environment, which each trial's process inherits."""
    taken = {name: environ.pop(key_variable(name), "") for name in KEY_NAMES}
    if key_name != MODEL_KEY:
        taken[key_name] = taken[MODEL_KEY] or taken[key_name]
        taken[MODEL_KEY] = ""
    return taken


def _jobs(
    planned: "tuple[BatchTrial, ...]", keys: Mapping[str, str], environ: Mapping[str, str]
) -> "list[Job]":
    """Return the trials, each with an environment that has its own key and no other."""
    from reb_action.workflow.batch import Job

    return [
        Job(
            id=trial.id,
            options=trial.options,
            environ={**environ, key_variable(MODEL_KEY): keys[trial.key]},
        )
        for trial in planned
    ]


def _restore(planned: "tuple[BatchTrial, ...]", earlier: Path, view: "View") -> None:
    from reb_action.workflow.continuation import restore_earlier

    places = {trial.id: trial.options.folder for trial in planned}
    for name in restore_earlier(earlier, places):
        view.tell("", f"{name}: restored from an earlier attempt")


def _outputs(result: "BatchResult") -> dict[str, str]:
    groups = {
        "done": result.done,
        "broken": result.broken,
        "continue": result.remaining,
        "skipped": result.skipped,
    }
    return {name: " ".join(trials) for name, trials in groups.items()}


def _conclude(
    result: "BatchResult",
    folder: Path,
    runner: RunnerOptions,
    fail_on: "FailOn",
    outlook: "Outlook | None",
) -> None:
    from reb_action.cli.batch_outlook import explain_regression, keep_stop
    from reb_action.model.quantity import count
    from reb_action.render.escape import log
    from reb_action.results import collection
    from reb_action.session import verdict
    from reb_action.session.layout import SessionLayout

    found = {
        name: verdict.judged(SessionLayout(folder=folder.absolute() / name)) for name in result.done
    }
    done, broken, left = map(len, (result.done, result.broken, result.remaining))
    click.echo(f"{count(done, 'trial')} done, {broken} broken, {left} left")
    if outlook is not None and result.skipped:
        click.echo(keep_stop(folder, outlook, result.skipped, found))
    if result.remaining:
        raise DeadlineError(
            f"no time left in this job for {', '.join(result.remaining)}; run them in another job"
        )
    if result.broken:
        raise SandboxError(
            f"could not run {', '.join(result.broken)}; see above and run them again"
        )
    reasons = (
        collection.explain_failure(found, runner.levels, fail_on),
        None if outlook is None else explain_regression(outlook, found),
    )
    closed = "; ".join(reason for reason in reasons if reason is not None)
    if closed:
        raise GateError(f"failed by --fail-on: {log(closed, limit=2000)}")
