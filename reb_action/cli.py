"""The command `reb`: parses, builds one typed value, calls one function, says what came out.

Commands import what they do when they are called: `reb --help` must not wait for Docker's SDK.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from reb_action import __version__
from reb_action.errors import RebError
from reb_action.layout import SessionLayout
from reb_action.model.manifest import Level

F = TypeVar("F", bound=Callable[..., object])

EXIT_CODES = """
\b
Exit codes:
  0  done; a failing agent is a result, not an error
  1  a fault of reb itself; please report it
  2  wrong usage: what was asked for cannot be done as asked
  3  a manifest or another document is malformed or was changed
  4  the sandbox cannot be started, reached or trusted
  5  the repository cannot be had at its pinned commit
  6  the harness's own tools are missing or broken
"""

folder_argument = click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON on standard output.")
levels_option = click.option(
    "--levels",
    envvar="REB_LEVELS",
    default=",".join(Level),
    show_default=True,
    help="Levels to measure, separated by commas.",
)


@click.group(epilog=EXIT_CODES)
@click.version_option(__version__, prog_name="reb")
def cli() -> None:
    r"""Measure whether a coding agent made an environment in which a research repository runs.

    \b
    Try it without Docker, GPU or key:   reb demo
    One trial, from start to verdict:    reb run owner/name --agent pip
    The same, phase by phase:            reb start, agent, probe, audit, verdict, stop
    """


def trial_options(command: F) -> F:
    """Add the options that decide what a trial is."""
    options = (
        click.argument("repository"),
        click.option(
            "--agent", envvar="REB_AGENT", default="pip", show_default=True,
            help="nop, replay, command, pip, uv, or a YAML file.",
        ),
        click.option(
            "--agent-argument", envvar="REB_AGENT_ARGUMENT",
            help="Command line of `command`, folder of `replay`.",
        ),
        click.option(
            "--agent-seconds", envvar="REB_AGENT_SECONDS", default=3600, show_default=True,
            type=click.IntRange(1, 86400), help="The agent's own clock.",
        ),
        click.option(
            "--attempt", envvar="REB_ATTEMPT", default=1, show_default=True,
            type=click.IntRange(1, 1000), help="Number of this attempt.",
        ),
        click.option(
            "--sandbox", envvar="REB_SANDBOX_KIND", default="docker", show_default=True,
            type=click.Choice(["docker", "local"]),
            help="docker, or local: a folder of this machine, which isolates nothing.",
        ),
        click.option(
            "--image", envvar="REB_IMAGE", default="researchenvbench-agent:latest",
            show_default=True, help="Image of the docker sandbox.",
        ),
        click.option(
            "--mirror", envvar="REB_MIRROR", type=click.Path(path_type=Path, exists=True),
            help="Folder with git mirrors; without it the repository is fetched.",
        ),
        click.option(
            "--gpus", envvar="REB_GPUS", default=0, show_default=True,
            type=click.IntRange(0, 64), help="GPUs that this runner promises.",
        ),
        click.option(
            "--network", envvar="REB_NETWORK", default="open", show_default=True,
            type=click.Choice(["open", "none"]), help="What the agent may reach.",
        ),
        levels_option,
        click.option(
            "--results", "folder", envvar="REB_RESULTS",
            type=click.Path(path_type=Path, file_okay=False),
            help="Folder for the trial.  [default: results/<trial>]",
        ),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


@cli.command()
@trial_options
@as_json
def run(*, as_json: bool, **chosen: object) -> None:
    """Run one trial of REPOSITORY (owner/name, or a manifest file) to its verdict."""
    from reb_action import outputs, trial
    from reb_action.console import telling

    options = outputs.options(chosen)
    with telling(quiet=as_json) as tell:
        verdict = trial.run(options, environ=os.environ, tell=tell)
    layout = SessionLayout(folder=options.folder)
    outputs.write_page(layout, verdict)
    outputs.show(verdict, as_json=as_json, folder=options.folder)


@cli.command()
@trial_options
def start(**chosen: object) -> None:
    """Start a trial: sweep leftovers, start the sandbox, check the repository out in it."""
    from reb_action import outputs, trial
    from reb_action.console import telling

    options = outputs.options(chosen)
    with telling(quiet=False) as tell:
        trial.start(options, owner=os.getppid(), tell=tell)
    click.echo(str(options.folder))


@cli.command()
@folder_argument
def agent(folder: Path) -> None:
    """Let the agent work, then freeze the sandbox of the trial in FOLDER."""
    from reb_action import trial
    from reb_action.console import telling
    from reb_action.render.escape import log

    with telling(quiet=False) as tell:
        ended = trial.run_agent(_layout(folder), environ=os.environ, tell=tell)
    click.echo(f"agent {ended.ending}: {log(ended.detail or 'it left a report')}")


@cli.command()
@folder_argument
@click.argument("level", type=click.Choice(["C0", "C1", "C2", "C3", "C4"]))
def probe(folder: Path, level: str) -> None:
    """Observe one LEVEL of the trial in FOLDER."""
    from reb_action import trial
    from reb_action.console import telling
    from reb_action.render.text import level_line

    with telling(quiet=False) as tell:
        result = trial.observe(_layout(folder), Level(level), tell=tell)
    click.echo(level_line(result))


@cli.command()
@folder_argument
def audit(folder: Path) -> None:
    """Hold the claims of the report against what was observed (C5)."""
    from reb_action import session, verdict
    from reb_action.render.text import claim_lines

    judged = verdict.judge(session.evidence(_layout(folder)))
    click.echo("\n".join(claim_lines(judged)))


@cli.command()
@folder_argument
@as_json
def verdict(folder: Path, *, as_json: bool) -> None:
    """Judge the trial in FOLDER and write verdict.json and index.html."""
    from reb_action import outputs, trial

    layout = _layout(folder)
    judged = trial.conclude(layout)
    outputs.write_page(layout, judged)
    outputs.show(judged, as_json=as_json, folder=folder)


@cli.command()
@folder_argument
@as_json
@click.option("--write", is_flag=True, help="Replace a verdict that was judged by other rules.")
def judge(folder: Path, *, as_json: bool, write: bool) -> None:
    """Recompute the verdict of an artifact, without sandbox or GPU; refuses a changed one."""
    from reb_action import outputs, trial

    layout = _layout(folder)
    judged = trial.conclude(layout) if write else trial.judge_again(layout)
    outputs.show(judged, as_json=as_json, folder=folder)


@cli.command()
@click.argument("folder", required=False, type=click.Path(path_type=Path, file_okay=False))
@click.option("--all", "every", is_flag=True, help="Remove every sandbox of ours on this machine.")
def stop(folder: Path | None, *, every: bool) -> None:
    """Remove the sandbox of the trial in FOLDER; what was observed stays."""
    from reb_action import trial
    from reb_action.console import telling

    if (folder is None) is not every:
        raise click.UsageError("name the folder of a trial, or give --all")
    with telling(quiet=False) as tell:
        if folder is None:
            trial.stop_all(tell=tell)
        else:
            trial.stop(_layout(folder), tell=tell)


@cli.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
def validate(paths: tuple[Path, ...]) -> None:
    """Check manifests: files, or folders of them."""
    from reb_action import outputs

    click.echo("\n".join(outputs.validated(paths)))


@cli.command()
@click.option("--sandbox", default="docker", type=click.Choice(["docker", "local"]))
@click.option("--image", envvar="REB_IMAGE", default="researchenvbench-agent:latest")
def doctor(sandbox: str, image: str) -> None:
    """Say what this machine lacks for a trial; exit code 4 if anything."""
    from reb_action import doctor as examination
    from reb_action.sandbox.protocol import Kind

    findings = tuple(examination.examine(Kind(sandbox), image))
    click.echo("\n".join(finding.line for finding in findings))
    if not all(finding.fine for finding in findings):
        sys.exit(4)


@cli.command()
@click.option(
    "--results", "folder", default=Path("results/demo"), show_default=True,
    type=click.Path(path_type=Path, file_okay=False), help="Folder for the two trials.",
)  # fmt: skip
def demo(folder: Path) -> None:
    """Show two trials of a small repository, one by a lying agent: no Docker, GPU or key."""
    from reb_action import demo as show
    from reb_action.console import telling

    with telling(quiet=False) as tell:
        lines = show.demo(folder, environ=os.environ, tell=tell)
    click.echo("\n".join(lines))


def _layout(folder: Path) -> SessionLayout:
    return SessionLayout(folder=folder.absolute())


def main() -> None:
    """Run the command line; every error of ours is one plain line."""
    try:
        cli(standalone_mode=False)
    except click.exceptions.Exit as leaving:
        sys.exit(leaving.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        sys.exit(130)
    except RebError as error:
        click.echo(f"reb: {error}", err=True)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
