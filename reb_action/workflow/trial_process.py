"""Runs one trial in a separate process, which reports its progress and ends with its parent."""

import os
import signal
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from reb_action.errors import describe_error
from reb_action.results import page
from reb_action.session.layout import SessionLayout
from reb_action.trial import run as trial_run
from reb_action.trial.options import Options


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One line of a trial's progress."""

    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class End:
    """The end of a trial: None if it has a verdict, else why it could not run."""

    fault: str | None


Message = Line | End


@dataclass(frozen=True, kw_only=True, slots=True)
class TrialProcess:
    """A running trial: its messages come from `messages`; it ends when `alive` is closed."""

    process: BaseProcess
    messages: "Connection[None, Message]"
    alive: "Connection[None, None]"


def start_trial(options: Options, environ: Mapping[str, str], *, live: bool) -> TrialProcess:
    """Start a trial. Its environment, with its key, goes through a pipe, not to the process."""
    context = get_context("spawn")
    messages, sending = context.Pipe(duplex=False)
    watched, alive = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(options, dict(environ), live, sending, watched))
    process.start()
    sending.close()
    watched.close()
    return TrialProcess(process=process, messages=messages, alive=alive)


def _run(
    options: Options,
    environ: Mapping[str, str],
    live: bool,
    messages: "Connection[Message, None]",
    watched: "Connection[None, None]",
) -> None:
    os.umask(0o022)
    # A terminal interrupts all its processes; the parent decides, and sends TERM once.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    threading.Thread(target=_end_with_parent, args=(watched,), daemon=True).start()
    try:
        verdict = trial_run.run(
            options,
            environ=environ,
            tell=lambda text: messages.send(Line(text=text)),
            live=live,
        )
        page.write_page(SessionLayout(folder=options.folder), verdict)
        messages.send(End(fault=None))
    except KeyboardInterrupt:
        messages.send(End(fault="interrupted"))
    except Exception as error:  # noqa: BLE001
        # The other trials can still run; this one counts as missing in the report.
        messages.send(End(fault=describe_error(error)))


def _end_with_parent(watched: "Connection[None, None]") -> None:
    try:
        watched.recv()
    except EOFError:
        os.kill(os.getpid(), signal.SIGTERM)
