"""The command `reb`: command list, exit codes, signals and error output.

Each command imports its phase when it is called: `reb --help` must not import Docker's SDK.
"""

import gc
import io
import os
import signal
import sys
from contextlib import suppress
from typing import Final

import click

from reb_action import __version__
from reb_action.cli.corpus import CORPUS
from reb_action.cli.init import INIT
from reb_action.cli.machine import MACHINE
from reb_action.cli.results import RESULTS
from reb_action.cli.trial import TRIAL
from reb_action.cli.verdict import VERDICT
from reb_action.cli.workflow import WORKFLOW
from reb_action.errors import PlaceError, RebError, UsageError, describe_error

EXIT_CODES = """
\b
Exit codes:
  0  success; a failing agent is a result, not an error
  1  internal error in reb; please report it (qualify, selftest: a check failed)
  2  usage error: the request is wrong or not possible, or a path does not exist
  3  a manifest or other document is invalid or was changed
  4  the sandbox, the runner or a limit of the sandbox failed
  5  could not fetch the repository at its pinned commit
  6  a tool that reb needs (pyright, node, probes) is missing or broken
  7  failed by --fail-on
  8  too little time left in the job for this step; continue in another job
  9  cannot read or write a file or folder: no space, no permission, no such path
  10  cannot read or write GitHub (reb publish --on-write-fault=fail)
  11  reb verify: unsigned, or the signature is invalid or from another run
  12  the model's vendor, key or network failed, so the trial has no result
  130  interrupted
"""


_OBJECTS: Final = 100_000
"""New objects after which Python looks for garbage."""


@click.group(epilog=EXIT_CODES)
@click.version_option(__version__, prog_name="reb")
def cli() -> None:
    """Measure whether a coding agent's environment really runs a research repository.

    \b
    Try it without Docker, GPU or key:   reb demo
    One trial, from start to verdict:    reb run owner/name --agent pip
    The same, phase by phase:            reb start, agent, probe, audit, verdict, stop
    Follow it from another terminal:     reb watch FOLDER

    Options can also be set by environment variables, e.g. REB_AGENT=uv.
    """  # noqa: D301


for _command in (*TRIAL, *VERDICT, *WORKFLOW, *MACHINE, *INIT, *CORPUS, *RESULTS):
    cli.add_command(_command)


def _describe_usage_error(error: click.ClickException) -> str:
    """Return click's message, with the allowed range of a number."""
    message = error.format_message().removesuffix(".")
    parameter = error.param if isinstance(error, click.BadParameter) else None
    if parameter is not None and isinstance(parameter.type, click.IntRange):
        maximum = parameter.type.max
        upto = "" if maximum is None else f" to {maximum}"
        return f"{message}; give a whole number from {parameter.type.min or 0}{upto}"
    return f"{message}; see reb --help"


def _print_error(error: RebError) -> None:
    from reb_action.github import commands, context
    from reb_action.render.escape import log

    with suppress(OSError):
        message = str(error)
        if context.read_context(os.environ).output is not None:
            message = commands.name_inputs(message, os.environ)
            click.echo(commands.format_error(log(message, limit=4000)))
        # A runner scans this stream for workflow commands, and a message may quote agent output.
        click.echo(f"reb: {log(message, limit=4000)}", err=True)


def _demand_streams() -> None:
    """Exit if an output is closed: the next opened file would get its number and its lines."""
    if sys.stderr is None:
        sys.exit(PlaceError.exit_code)
    if sys.stdout is None:
        click.echo("reb: standard output is closed; redirect it to /dev/null instead", err=True)
        sys.exit(PlaceError.exit_code)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A character that the terminal cannot encode must not lose the result.
            stream.reconfigure(errors="backslashreplace")


def main() -> None:
    """Run the command line; every expected error is one line."""
    # Imports make many objects and no garbage: looking for it takes an eighth of the start-up.
    gc.set_threshold(_OBJECTS)
    # The user of the sandbox must be able to read mounted files.
    os.umask(0o022)
    # A runner that cancels sends INT first, then TERM; a closed terminal sends HUP. All three end
    # in the same clean way.
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
        # On a closed pipe click replaces stdout by a writer that ignores errors, and exits with 1.
        code = leaving.code if isinstance(leaving.code, int) else 0
        return code if sys.stdout is stdout else PlaceError.exit_code
    except click.ClickException as error:
        _print_error(UsageError(_describe_usage_error(error)))
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        with suppress(OSError):
            click.echo("interrupted", err=True)
        return 130
    except RebError as error:
        _print_error(error)
        return error.exit_code
    except OSError as error:
        _print_error(PlaceError(describe_error(error)))
        return PlaceError.exit_code
    return 0


def _release_outputs() -> None:
    """Discard buffered output of a closed pipe: Python would exit with 120 when it flushes it."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, stream.fileno())


if __name__ == "__main__":
    main()
