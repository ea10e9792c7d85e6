"""The agent phase: runs the agent to its end or its deadline, and records how it ended."""

from collections.abc import Mapping

from reb_action import documents
from reb_action.agents.catalogue import agent
from reb_action.agents.run.access import find_upstream
from reb_action.agents.run.execution import (
    describe_end,
    read_execution,
)
from reb_action.agents.run.preflight import (
    ask_model,
    describe_failed_run,
    describe_preflight,
    find_failure,
)
from reb_action.errors import SandboxError, UsageError
from reb_action.model.agent import AgentRun, Resume
from reb_action.model.progress import Progress
from reb_action.sandbox import select
from reb_action.sandbox.protocol import Sandbox
from reb_action.session import reserve, state
from reb_action.session.layout import SessionLayout
from reb_action.session.progress import AgentProgress
from reb_action.session.state import Phase, Session
from reb_action.trial.agent_command import EndedAgent, make_task, run_command
from reb_action.trial.agent_record import record_run
from reb_action.trial.fault import demand_result, record_full_disk
from reb_action.trial.freeze import freeze
from reb_action.trial.resume import ResumePlan, find_tally
from reb_action.trial.resume import resume as resume_trial


def run_agent(
    layout: SessionLayout,
    *,
    environ: Mapping[str, str],
    tell: Progress,
    live: bool = True,
    resume: Resume = Resume.CONTINUE,
) -> AgentRun:
    """Run the agent to its end or its deadline; then freeze the sandbox.

    With `live` each turn of the agent is shown as it ends. `resume` is what becomes of an agent
    whose runner was killed while it worked.
    """
    with state.at_work(layout) as session:
        _demand_unfinished(layout, session)
        if session.phase is Phase.AGENT_DONE:
            sandbox, ended = select.attach(session.spec, session.handle), None
        else:
            sandbox, ended = _run_to_end(
                layout, session, environ=environ, tell=tell, live=live, how=resume
            )
        return _finish(layout, session, sandbox, ended, tell)


def _finish(
    layout: SessionLayout,
    session: Session,
    sandbox: Sandbox,
    ended: EndedAgent | None,
    tell: Progress,
) -> AgentRun:
    """Record how the agent ended, unless that is written already, and freeze the sandbox.

    A full disk may be what ended it.
    """
    run = None
    try:
        # Before anything is written: what still runs could fill the disk again and again.
        survivors = sandbox.halt()
        if ended is None:
            run = documents.read(layout.agent_run, AgentRun, kind="agent_run")
        else:
            with reserve.lend(layout):
                run = record_run(layout, session, ended)
                _keep(layout, run)
        freeze(layout, session, sandbox, survivors=survivors, tell=tell)
    except (OSError, SandboxError) as error:
        if not reserve.is_disk_full(error):
            raise
        with reserve.lend(layout):
            return record_full_disk(layout, run)
    return run


def _demand_unfinished(layout: SessionLayout, session: Session) -> None:
    if session.phase is Phase.STARTING:
        raise UsageError(
            f"the start of the trial in {layout.folder} did not finish; start a new trial"
        )
    if session.phase not in (Phase.STARTED, Phase.AGENT, Phase.AGENT_DONE):
        raise UsageError(
            f"the agent in {layout.folder} has already been started; start a new trial"
        )


def _keep(layout: SessionLayout, run: AgentRun) -> None:
    """Write how the agent ended; from here on there is nothing to resume."""
    documents.write(layout.agent_run, run, kind="agent_run")
    state.advance(layout, Phase.AGENT_DONE)
    for path in (layout.progress, layout.ledger):
        path.unlink(missing_ok=True)


def _run_to_end(
    layout: SessionLayout,
    session: Session,
    *,
    environ: Mapping[str, str],
    tell: Progress,
    live: bool,
    how: Resume,
) -> tuple[Sandbox, EndedAgent]:
    """Run the agent, or resume an interrupted one; return how it ended."""
    spec = agent(session.agent.name, argument=session.agent.argument)
    plan = ResumePlan(progress=AgentProgress(), runs=True)
    sandbox = None
    if session.phase is Phase.AGENT:
        sandbox, plan = resume_trial(layout, session, spec, how, tell=tell)
    if sandbox is None or plan.runs:
        _demand_model(layout, session, environ=environ, tell=tell)
        sandbox = sandbox or select.attach(session.spec, session.handle)
        return sandbox, run_command(
            layout, session, sandbox, plan, environ=environ, tell=tell, live=live
        )
    return sandbox, EndedAgent(
        spec=spec,
        execution=read_execution(sandbox, plan.progress, describe_end(plan.progress)),
        tally=find_tally(layout, session),
        task=make_task(sandbox, session, spec),
        interruptions=plan.progress.interruptions,
    )


def _demand_model(
    layout: SessionLayout, session: Session, *, environ: Mapping[str, str], tell: Progress
) -> None:
    """Send the model a test request; raise ModelError, and record why, if it fails.

    The trial is unchanged: with another key the same command starts the agent.
    """
    spec = agent(session.agent.name, argument=session.agent.argument)
    preflight = ask_model(session, spec, environ)
    upstream = find_upstream(spec, session, "")
    if preflight is None or upstream is None:
        return
    tell(f"test request to the model: {describe_preflight(upstream, preflight)}")
    trouble = find_failure(preflight)
    if trouble is None:
        return
    run = describe_failed_run(session, spec, trouble)
    documents.write(layout.agent_run, run, kind="agent_run")
    demand_result(run, state.find_limits(layout))
