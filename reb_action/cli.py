"""The command `reb`: parses, builds one typed value, calls one function, says what came out.

Commands import what they do when they are called: `reb --help` must not wait for Docker's SDK.
"""

import io
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

import click

from reb_action import __version__
from reb_action.cli_actions import COMMANDS
from reb_action.cli_checks import CHECKS
from reb_action.cli_options import (
    as_json,
    deadline_option,
    fail_on_option,
    folder_argument,
    scoring_option,
    trial_options,
)
from reb_action.cli_publish import PUBLISH
from reb_action.cli_reports import REPORTS
from reb_action.errors import PlaceError, RebError, UsageError, told
from reb_action.layout import SessionLayout
from reb_action.model.manifest import Level
from reb_action.model.verdict import Scoring

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
  7  the gate is closed: what --fail-on names has occurred
  8  the job has too little time left for this step; continue in another one
  9  a file or folder cannot be written or read: no room, no permission, no such place
  10  GitHub cannot be read or written as asked (reb publish --on-write-fault=fail)
  11  reb verify: unsigned, or the signature is not valid or not of the expected run
  130  interrupted
"""


@click.group(epilog=EXIT_CODES)
@click.version_option(__version__, prog_name="reb")
def cli() -> None:
    """Measure whether a coding agent made an environment in which a research repository runs.

    \b
    Try it without Docker, GPU or key:   reb demo
    One trial, from start to verdict:    reb run owner/name --agent pip
    The same, phase by phase:            reb start, agent, probe, audit, verdict, stop

    An option of these can come from the environment too, as the action gives it: REB_AGENT=uv.
    """  # noqa: D301


@cli.command()
@trial_options
@as_json
def run(*, as_json: bool, **chosen: object) -> None:
    """Run one trial of REPOSITORY (owner/name, or a manifest file) to its verdict."""
    from reb_action import choosing, outputs, trial
    from reb_action.console import telling

    options = choosing.options(chosen)
    with telling(quiet=as_json) as tell:
        verdict = trial.run(options, environ=os.environ, tell=tell)
    layout = SessionLayout(folder=options.folder)
    outputs.write_page(layout, verdict)
    outputs.show(verdict, as_json=as_json, folder=options.folder)


@cli.command()
@trial_options
@fail_on_option
@scoring_option
def start(*, fail_on: str, scoring: str, **chosen: object) -> None:
    """Start a trial: sweep leftovers, start the sandbox, check the repository out in it."""
    from reb_action import choosing, gate, trial
    from reb_action.console import telling

    # Only the gate needs these, but hours later.
    gate.parse(fail_on, scoring=Scoring(scoring))
    options = choosing.options(chosen)
    with telling(quiet=False) as tell:
        trial.start(options, owner=os.getppid(), tell=tell, environ=os.environ)
    click.echo(str(options.folder))


@cli.command()
@folder_argument
@deadline_option
def agent(folder: Path, ends_at: int | None) -> None:
    """Let the agent work, then freeze the sandbox of the trial in FOLDER."""
    from reb_action import choosing, trial
    from reb_action.console import telling
    from reb_action.render.lines import agent_line

    choosing.demand_time(_layout(folder), None, ends_at)
    with telling(quiet=False) as tell:
        ended = trial.run_agent(_layout(folder), environ=os.environ, tell=tell)
    click.echo(agent_line(ended))


@cli.command()
@folder_argument
@click.argument("level", type=click.Choice(["C0", "C1", "C2", "C3", "C4"]))
@deadline_option
def probe(folder: Path, level: str, ends_at: int | None) -> None:
    """Observe one LEVEL of the trial in FOLDER."""
    from reb_action import choosing, observing, outputs
    from reb_action.console import telling
    from reb_action.render.lines import level_line

    choosing.demand_time(_layout(folder), Level(level), ends_at)
    with telling(quiet=False) as tell:
        result = observing.observe(_layout(folder), Level(level), tell=tell)
    click.echo(level_line(result, outputs.unqualified(_layout(folder))))


@cli.command()
@folder_argument
def audit(folder: Path) -> None:
    """Hold the claims of the report against what was observed (C5)."""
    from reb_action import evidence, verdict
    from reb_action.render.lines import claim_lines

    judged = verdict.judge(evidence.read(_layout(folder)))
    click.echo("\n".join(claim_lines(judged)))


@cli.command()
@folder_argument
@as_json
def verdict(folder: Path, *, as_json: bool) -> None:
    """Judge the trial in FOLDER and write verdict.json and index.html."""
    from reb_action import judging, outputs

    layout = _layout(folder)
    judged = judging.conclude(layout)
    outputs.write_page(layout, judged)
    outputs.show(judged, as_json=as_json, folder=folder)


@cli.command()
@folder_argument
@as_json
@click.option("--write", is_flag=True, help="Replace a verdict that was judged by other rules.")
def judge(folder: Path, *, as_json: bool, write: bool) -> None:
    """Recompute the verdict of an artifact, without sandbox or GPU; refuses a changed one."""
    from reb_action import judging, outputs

    layout = _layout(folder)
    judged = judging.judge_again(layout, replace=write)
    if write:
        outputs.write_page(layout, judged)
    else:
        for doubt in outputs.doubts_of_page(layout, judged):
            click.echo(f"reb: {doubt}", err=True)
    click.echo(f"reb: {judging.UNSIGNED}; reb verify checks a signature", err=True)
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
    # An interrupt asks for just what is being done here; what hangs still ends by SIGTERM.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with telling(quiet=False) as tell:
        if folder is None:
            trial.stop_all(tell=tell)
        elif not _layout(folder).session.exists():
            tell(f"no trial began in {folder}, so there is nothing to stop")
        else:
            trial.stop(_layout(folder), tell=tell)


for _command in (*COMMANDS, *CHECKS, *REPORTS, *PUBLISH):
    cli.add_command(_command)


def _layout(folder: Path) -> SessionLayout:
    return SessionLayout(folder=folder.absolute())


def _said(error: click.ClickException) -> str:
    """Return what click says of a wrong option, and which numbers are right."""
    said = error.format_message().removesuffix(".")
    parameter = error.param if isinstance(error, click.BadParameter) else None
    if parameter is not None and isinstance(parameter.type, click.IntRange):
        most = parameter.type.max
        upto = "" if most is None else f" to {most}"
        return f"{said}; give a whole number from {parameter.type.min or 0}{upto}"
    return f"{said}; see reb --help"


def _tell(error: RebError) -> None:
    from reb_action.github import commands, context
    from reb_action.render.escape import log

    with suppress(OSError):
        if context.read(os.environ).output is not None:
            click.echo(commands.error(log(str(error))))
        # A runner scans this stream too, and a message may quote what an agent made.
        click.echo(f"reb: {log(str(error), limit=4000)}", err=True)


def _demand_streams() -> None:
    """Refuse a closed output: the next file that is opened would get its number, and its lines."""
    if sys.stderr is None:
        sys.exit(PlaceError.exit_code)
    if sys.stdout is None:
        click.echo("reb: standard output is closed; redirect it to /dev/null instead", err=True)
        sys.exit(PlaceError.exit_code)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A mark that an old terminal cannot show must not cost the result.
            stream.reconfigure(errors="backslashreplace")


def main() -> None:
    """Run the command line; every error of ours is one plain line."""
    # What goes into the mount must be readable for the user of the sandbox.
    os.umask(0o022)
    # A runner that cancels sends INT first, TERM later; both end in the same clean way.
    # So does a terminal that is closed.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    _demand_streams()
    try:
        sys.exit(_run())
    finally:
        _release_outputs()


def _run() -> int:
    """Run the command line and return its exit code."""
    stdout = sys.stdout
    try:
        cli(prog_name="reb", standalone_mode=False)
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except SystemExit as leaving:
        # Where our reader has gone, click puts a blind output in its place and ends with 1.
        code = leaving.code if isinstance(leaving.code, int) else 0
        return code if sys.stdout is stdout else PlaceError.exit_code
    except click.ClickException as error:
        _tell(UsageError(_said(error)))
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        with suppress(OSError):
            click.echo("interrupted", err=True)
        return 130
    except RebError as error:
        _tell(error)
        return error.exit_code
    except OSError as error:
        _tell(PlaceError(told(error)))
        return PlaceError.exit_code
    return 0


def _release_outputs() -> None:
    """Let go of an output whose reader has gone: Python would end with 120 for what it holds."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())


if __name__ == "__main__":
    main()
