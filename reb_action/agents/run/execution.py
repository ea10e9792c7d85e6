"""Runs an agent in a sandbox to its end, its deadline or a limit."""

import math
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from reb_action import __version__
from reb_action.agents.run.conclusion import RUNNER_KILLED, Conclusion, conclude
from reb_action.agents.run.launch import Launch, SetupFault, place, replace_task
from reb_action.agents.run.log import AgentLog
from reb_action.agents.run.stop_conditions import FinishCheck, make_stop_check
from reb_action.agents.spec import AgentLimits, AgentSpec, Parser
from reb_action.gateway.model_names import is_same_model
from reb_action.model.agent import Account, AgentRun, Ending, Tally
from reb_action.model.limits import LimitHits
from reb_action.model.report import find_blocking_fault
from reb_action.sandbox.protocol import Command, Ended, FileFault, Sandbox, Until
from reb_action.session.layout import SessionLayout
from reb_action.session.progress import AgentProgress, ProgressClock
from reb_action.session.report import LIMIT_BYTES, parse

if TYPE_CHECKING:
    from reb_action.gateway.gateway import Gateway


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentExecution:
    """How the command of an agent ended and the report it left, or why it could not start.

    Of several attempts, `ended` is the end of the last with the time of all.
    """

    setup_seconds: float
    ended: Ended | None = None
    left: bytes | FileFault = FileFault.MISSING
    fault: SetupFault | None = None
    attempts: int = 1
    hits: LimitHits = field(default_factory=LimitHits)


def execute_agent(
    sandbox: Sandbox,
    spec: AgentSpec,
    launch: Launch,
    *,
    limits: AgentLimits,
    gateway: "Gateway | None",
    secrets: Iterable[str],
    layout: SessionLayout,
    retry: Launch | None = None,
    beat: Callable[[str], None] = lambda _: None,
    before: AgentProgress | None = None,
) -> AgentExecution:
    """Run an agent and return how its command ended; raises SandboxError for a broken sandbox.

    The log hides the values of `secrets` and those of `launch.secret_env`. An agent that ends by
    itself without a usable report is started once more with `retry`, with its own time limit.
    `beat` is called about once a second with the last line of output. `before` is the progress of
    an earlier part of the run: its seconds count against the limits, and its output is kept.
    """
    began = time.monotonic()
    fault = place(sandbox, launch, deadline=began + limits.setup_seconds)
    setup_seconds = round(time.monotonic() - began, 3)
    if fault is not None:
        return _record_setup_fault(layout, fault, setup_seconds)
    hits_before, earlier = sandbox.find_hits(), before or AgentProgress()
    start = replace(earlier, setup_seconds=round(earlier.setup_seconds + setup_seconds, 3))
    clock = ProgressClock(layout, start)
    hidden = (*secrets, *launch.secret_env.values())
    with _open_logs(layout, spec, hidden, continues=earlier.has_begun) as (log, events):
        finish = FinishCheck(sandbox, spec, layout)
        until = make_stop_check(limits, gateway, log, finish, _make_tick(clock, beat))
        own = replace(limits, total_seconds=_left(limits, earlier))
        ended = _run(sandbox, launch, limits=own, until=until, log=log, events=events)
        attempts = earlier.attempts
        if retry is not None and ended.exit_code is not None and not _has_report(sandbox):
            replace_task(sandbox, retry)
            last = _run(sandbox, retry, limits=limits, until=until, log=log, events=events)
            ended, attempts = replace(last, seconds=ended.seconds + last.seconds), attempts + 1
    ended = replace(ended, seconds=earlier.seconds + ended.seconds)
    clock.stop(describe_progress(ended, replace(start, attempts=attempts)))
    hits = sandbox.find_hits().since(hits_before)
    return replace(read_execution(sandbox, start, ended), attempts=attempts, hits=hits)


def _make_tick(clock: ProgressClock, beat: Callable[[str], None]) -> Callable[[str], None]:
    def tick(line: str) -> None:
        clock.tick()
        beat(line)

    return tick


def _record_setup_fault(
    layout: SessionLayout, fault: SetupFault, setup_seconds: float
) -> AgentExecution:
    layout.agent_log.parent.mkdir(parents=True, exist_ok=True)
    layout.agent_log.write_text(f"{fault.detail}\n", encoding="utf-8")
    return AgentExecution(setup_seconds=setup_seconds, fault=fault)


@contextmanager
def _open_logs(
    layout: SessionLayout, spec: AgentSpec, secrets: tuple[str, ...], *, continues: bool
) -> Generator[tuple[AgentLog, AgentLog | None]]:
    """Open the log of an agent and, if its events are read, that of its standard output."""
    with ExitStack() as stack:
        log = AgentLog(layout.agent_log, secrets=secrets, continues=continues)
        stack.enter_context(log)
        events = None
        if spec.parser is not Parser.NONE:
            path = layout.trajectory / "stdout"
            events = stack.enter_context(AgentLog(path, secrets=secrets, continues=continues))
        yield log, events


def describe_progress(ended: Ended, progress: AgentProgress) -> AgentProgress:
    """Return the progress of an agent whose command has ended."""
    return replace(
        progress,
        seconds=round(ended.seconds, 3),
        has_ended=True,
        exit_code=ended.exit_code,
        timed_out=ended.timed_out,
        stopped=ended.stopped,
        is_out_of_memory=ended.is_out_of_memory,
    )


def describe_end(progress: AgentProgress) -> Ended:
    """Return how a command ended that is over, or that a kill of the runner has interrupted."""
    return Ended(
        exit_code=progress.exit_code,
        timed_out=progress.timed_out,
        seconds=progress.seconds,
        stdout=b"",
        stderr=b"",
        stopped=progress.stopped if progress.has_ended else RUNNER_KILLED,
        is_out_of_memory=progress.is_out_of_memory,
    )


def read_execution(sandbox: Sandbox, progress: AgentProgress, ended: Ended) -> AgentExecution:
    """Return the execution of a command that has ended, with the report that it left."""
    left = sandbox.read(sandbox.layout.report, limit_bytes=LIMIT_BYTES)
    return AgentExecution(
        setup_seconds=progress.setup_seconds, ended=ended, left=left, attempts=progress.attempts
    )


def _left(limits: AgentLimits, earlier: AgentProgress) -> int:
    """Return the seconds that an agent still has: one at least, to be ended by the clock."""
    return max(math.ceil(limits.total_seconds - earlier.seconds), 1)


def describe_run(
    spec: AgentSpec,
    driven: AgentExecution,
    *,
    limits: AgentLimits,
    account: Account | None,
    tally: Tally | None,
) -> AgentRun:
    """Return how a run ended and its usage, counted by the gateway where there is one."""
    ended = driven.ended
    if ended is None:
        fault = driven.fault or SetupFault(detail="it was not started", cause=None)
        end = Conclusion(ending=Ending.SETUP_FAILED, detail=fault.detail, cause=fault.cause)
    else:
        end = conclude(ended, driven.left, account, tally, limits, driven.hits)
    reported = None if account is None else account.usage
    return AgentRun(
        agent=spec.name,
        version=_version(spec, account),
        ending=end.ending,
        exit_code=None if ended is None else ended.exit_code,
        seconds=0.0 if ended is None else round(ended.seconds, 3),
        setup_seconds=driven.setup_seconds,
        usage=reported if tally is None else tally.usage,
        estimate=None if tally is None else tally.estimate,
        reported=reported,
        vendor=None if tally is None else tally.vendor,
        detail=end.detail,
        cause=end.cause,
        hits=driven.hits if driven.hits != LimitHits() else None,
        attempts=driven.attempts,
    )


def _has_report(sandbox: Sandbox) -> bool:
    """Return whether there is a report that names an interpreter."""
    left = sandbox.read(sandbox.layout.report, limit_bytes=LIMIT_BYTES)
    return isinstance(left, bytes) and find_blocking_fault(parse(left)) is None


def _run(
    sandbox: Sandbox,
    launch: Launch,
    *,
    limits: AgentLimits,
    until: Until,
    log: AgentLog,
    events: AgentLog | None,
) -> Ended:
    def out(data: bytes) -> None:
        log.feed("stdout", data)
        if events is not None:
            events.feed("stdout", data)

    command = Command(
        argv=launch.argv,
        cwd=sandbox.layout.repository,
        timeout_seconds=limits.total_seconds,
        env=launch.env,
        secret_env=launch.secret_env,
        stdin=launch.stdin,
        output_limit_bytes=64 * 1024,
        may_fill_disk=True,
    )
    return sandbox.run(
        command, stdout=out, stderr=lambda data: log.feed("stderr", data), until=until
    )


def find_other_model(requested: str, run: AgentRun) -> str | None:
    """Return why a run does not count where another model answered than the requested one."""
    if run.vendor is None:
        return None
    models = run.vendor.models
    others = sorted(name for name in models if not is_same_model(name, requested))
    if not others:
        return None
    calls = sum(models[name] for name in others)
    return (
        f"{calls} of {sum(models.values())} answers came from {', '.join(others)}, not from"
        f" {requested}; set --model to it, or use --accept-other-model"
    )


def _version(spec: AgentSpec, account: Account | None) -> str:
    if account is not None and account.version is not None:
        return account.version
    return spec.install.version if spec.install is not None else __version__
