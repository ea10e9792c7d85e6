"""The command `reb`: parses, builds one typed value, calls one function, says what came out.

Commands import what they do when they are called: `reb --help` must not wait for Docker's SDK.
"""

import io
import os
import signal
import sys
from contextlib import suppress

import click

from reb_action import __version__
from reb_action.cli.corpus import CORPUS
from reb_action.cli.machine import MACHINE
from reb_action.cli.results import RESULTS
from reb_action.cli.trial import TRIAL
from reb_action.cli.workflow import WORKFLOW
from reb_action.errors import PlaceError, RebError, UsageError, told

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


for _command in (*TRIAL, *WORKFLOW, *MACHINE, *CORPUS, *RESULTS):
    cli.add_command(_command)


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
        if context.read_context(os.environ).output is not None:
            click.echo(commands.format_error(log(str(error))))
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
