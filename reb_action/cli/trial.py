"""Commands that run a trial: run, start, agent, watch, probe, stop."""

import os
import signal
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reb_action.cli.groups import RunnerOptions, TrialOptions
from reb_action.cli.options import (
    FILE,
    FOLDER,
    as_json,
    deadline_option,
    find_trial,
    folder_argument,
    gate_options,
    live_option,
    parse_resume,
)
from reb_action.cli.trial_options import trial_options
from reb_action.model.agent import Resume
from reb_action.model.manifest import Level
from reb_action.session.layout import SessionLayout

if TYPE_CHECKING:
    from reb_action.judge.gate import FailOn
    from reb_action.model.progress import Progress


@click.command()
@trial_options
@live_option
@click.option(
    "--keep",
    is_flag=True,
    help="Keep the sandbox for reb probe --manifest; remove it with reb stop.",
)
@as_json
def run(
    *, trial: TrialOptions, runner: RunnerOptions, live: bool, keep: bool, as_json: bool
) -> None:
    """Run one trial of REPOSITORY (owner/name or manifest file)."""
    from reb_action.cli import arguments, console
    from reb_action.results import page
    from reb_action.session.state import find_limits
    from reb_action.trial import run as trial_run
    from reb_action.trial.fault import demand_result

    options = arguments.make_trial(trial, runner)
    with console.show_progress(quiet=as_json) as tell:
        verdict = trial_run.run(options, environ=os.environ, tell=tell, live=live, keep=keep)
    layout = SessionLayout(folder=options.folder)
    page.write_page(layout, verdict)
    console.show_verdict(verdict, as_json=as_json, folder=options.folder)
    if keep and not as_json:
        console.print_kept(options.folder)
    demand_result(verdict.agent_run, find_limits(layout))


@click.command()
@trial_options
@gate_options
def start(*, trial: TrialOptions, runner: RunnerOptions, fail_on: "FailOn") -> None:
    """Start a trial: start the sandbox and check out REPOSITORY."""
    from reb_action.cli import arguments
    from reb_action.cli.console import show_progress
    from reb_action.judge.gate import demand_measured
    from reb_action.trial import start as trial_start

    # Only the gate needs it, hours later: a wrong value must fail now.
    demand_measured(fail_on, runner.levels)
    options = arguments.make_trial(trial, runner)
    with show_progress(quiet=False) as tell:
        trial_start.start(options, owner=os.getppid(), tell=tell, environ=os.environ)
    click.echo(str(options.folder))


@click.command()
@folder_argument
@live_option
@deadline_option
@click.option(
    "--resume",
    default=str(Resume.CONTINUE),
    show_default=True,
    type=click.Choice([str(how) for how in Resume]),
    callback=parse_resume,
    help="If the runner was killed: continue the agent's session (or measure, if it cannot),"
    " measure its environment as it is, or restart the agent in a new sandbox.",
)
def agent(folder: Path, *, live: bool, ends_at: int | None, resume: Resume) -> None:
    """Run the agent of the trial in FOLDER, then freeze its sandbox.

    If the runner was killed while the agent worked, the same command resumes the trial.
    """
    from reb_action.cli.console import print_log_end, show_progress
    from reb_action.render.lines import agent_line
    from reb_action.session.state import find_limits
    from reb_action.trial import agent as trial_agent
    from reb_action.trial.fault import demand_result
    from reb_action.workflow import deadline

    deadline.demand_time(find_trial(folder), None, ends_at)
    with show_progress(quiet=False) as tell:
        ended = trial_agent.run_agent(
            find_trial(folder), environ=os.environ, tell=tell, live=live, resume=resume
        )
    click.echo(agent_line(ended))
    print_log_end(find_trial(folder).agent_log, find_trial(folder))
    demand_result(ended, find_limits(find_trial(folder)))


@click.command()
@folder_argument
def watch(folder: Path) -> None:
    """Follow the agent of a running trial, turn by turn."""
    from reb_action.cli.console import show_progress
    from reb_action.trial import watch as trial_watch

    with show_progress(quiet=False) as tell:
        trial_watch.watch(find_trial(folder), tell=tell)


@click.command()
@folder_argument
@click.argument("level", type=click.Choice(["C0", "C1", "C2", "C3", "C4"]))
@click.option(
    "--manifest",
    type=FILE,
    help="Measure by this corrected manifest, and write the verdict anew. Its results are marked,"
    " and no record of the trial.",
)
@deadline_option
def probe(folder: Path, level: str, manifest: Path | None, ends_at: int | None) -> None:
    """Observe one LEVEL of the trial in FOLDER."""
    from reb_action.cli.console import print_level, show_progress
    from reb_action.trial import probe as trial_probe
    from reb_action.workflow import deadline

    layout = find_trial(folder)
    deadline.demand_time(layout, Level(level), ends_at)
    with show_progress(quiet=False) as tell:
        if manifest is not None:
            _amend(layout, manifest, tell)
        result = trial_probe.probe_level(layout, Level(level), tell=tell)
    if manifest is None:
        print_level(layout, result)
    else:
        _show_amended(layout)


def _amend(layout: SessionLayout, path: Path, tell: "Progress") -> None:
    from reb_action.corpus import manifests
    from reb_action.trial.amend import amend

    amend(layout, manifests.load(path), tell=tell)


def _show_amended(layout: SessionLayout) -> None:
    """Write and print the verdict of a trial whose manifest was replaced."""
    from reb_action.cli import console
    from reb_action.results import page
    from reb_action.session.verdict import conclude

    verdict = conclude(layout)
    page.write_page(layout, verdict)
    console.show_verdict(verdict, as_json=False, folder=layout.folder)


@click.command()
@click.argument("folder", required=False, type=FOLDER)
@click.option("--all", "every", is_flag=True, help="Remove all sandboxes of reb on this machine.")
def stop(folder: Path | None, *, every: bool) -> None:
    """Remove the trial's sandbox; results are kept."""
    from reb_action.cli.console import show_progress
    from reb_action.trial import stop as trial_stop

    if (folder is None) is not every:
        raise click.UsageError("give either the folder of a trial or --all")
    with _ignore_interrupts(), show_progress(quiet=False) as tell:
        if folder is None:
            trial_stop.stop_all(tell=tell)
            return
        layout = SessionLayout(folder=folder.absolute())
        if layout.session.exists():
            trial_stop.stop(layout, tell=tell)
        else:
            tell(f"no trial was started in {folder}; nothing to stop")


@contextmanager
def _ignore_interrupts() -> Generator[None]:
    """Ignore SIGINT, which would only ask for this same clean-up. SIGTERM ends a hanging one.

    The handler comes back: what the caller starts later would inherit that SIGINT is ignored.
    """
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


TRIAL = (run, start, agent, watch, probe, stop)
