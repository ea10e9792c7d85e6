"""Runs an agent in a sandbox to its end, its deadline or a limit."""

import time
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass

from reb_action import __version__
from reb_action.agents.run.ending import conclude
from reb_action.agents.run.launch import Launch, place
from reb_action.agents.run.log import AgentLog
from reb_action.agents.spec import AgentLimits, AgentSpec, Parser
from reb_action.gateway import Gateway
from reb_action.model.agent import Account, AgentRun, Ending, Tally
from reb_action.sandbox.protocol import Command, Ended, FileFault, Sandbox, Until
from reb_action.session.layout import SessionLayout
from reb_action.session.report import LIMIT_BYTES


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentExecution:
    """How the command of an agent ended and the report it left, or why it could not start."""

    setup_seconds: float
    ended: Ended | None = None
    left: bytes | FileFault = FileFault.MISSING
    fault: str | None = None


def execute_agent(
    sandbox: Sandbox,
    spec: AgentSpec,
    launch: Launch,
    *,
    limits: AgentLimits,
    gateway: Gateway | None,
    secrets: Iterable[str],
    layout: SessionLayout,
) -> AgentExecution:
    """Run an agent and return how its command ended; raises SandboxError for a broken sandbox.

    The log hides the values of `secrets` and those of `launch.secret_env`.
    """
    began = time.monotonic()
    fault = place(sandbox, launch, deadline=began + limits.setup_seconds)
    setup_seconds = round(time.monotonic() - began, 3)
    if fault is not None:
        layout.agent_log.parent.mkdir(parents=True, exist_ok=True)
        layout.agent_log.write_text(f"{fault}\n", encoding="utf-8")
        return AgentExecution(setup_seconds=setup_seconds, fault=fault)
    hidden = (*secrets, *launch.secret_env.values())
    with ExitStack() as stack:
        log = stack.enter_context(AgentLog(layout.agent_log, secrets=hidden))
        events = None
        if spec.parser is not Parser.NONE:
            events = stack.enter_context(AgentLog(layout.trajectory / "stdout", secrets=hidden))
        ended = _run(sandbox, launch, limits=limits, gateway=gateway, log=log, events=events)
    left = sandbox.read(sandbox.layout.report, limit_bytes=LIMIT_BYTES)
    return AgentExecution(setup_seconds=setup_seconds, ended=ended, left=left)


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
        ending, detail = Ending.SETUP_FAILED, driven.fault
    else:
        ending, detail = conclude(ended, driven.left, account, tally, limits)
    reported = None if account is None else account.usage
    return AgentRun(
        agent=spec.name,
        version=_version(spec, account),
        ending=ending,
        exit_code=None if ended is None else ended.exit_code,
        seconds=0.0 if ended is None else round(ended.seconds, 3),
        setup_seconds=driven.setup_seconds,
        usage=reported if tally is None else tally.usage,
        reported=reported,
        detail=detail,
    )


def _run(
    sandbox: Sandbox,
    launch: Launch,
    *,
    limits: AgentLimits,
    gateway: Gateway | None,
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
    )
    until = _until(limits, gateway, log)
    return sandbox.run(
        command, stdout=out, stderr=lambda data: log.feed("stderr", data), until=until
    )


def _until(limits: AgentLimits, gateway: Gateway | None, log: AgentLog) -> Until:
    def reason() -> str | None:
        if gateway is not None and (limit := gateway.tally().limit) is not None:
            return limit
        model_quiet = log.quiet_seconds() if gateway is None else gateway.quiet_seconds()
        if min(log.quiet_seconds(), model_quiet) < limits.idle_seconds:
            return None
        return f"neither it nor its model said anything for {limits.idle_seconds} seconds"

    return reason


def _version(spec: AgentSpec, account: Account | None) -> str:
    if account is not None and account.version is not None:
        return account.version
    return spec.install.version if spec.install is not None else __version__
