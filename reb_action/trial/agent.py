"""The agent phase: runs the agent to its end or its deadline, and records how it ended."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from reb_action import documents
from reb_action.agents import parsers
from reb_action.agents.catalogue import agent
from reb_action.agents.environment import proxied, settings
from reb_action.agents.parsers.conversation import read_steps
from reb_action.agents.parsers.steps import Reading
from reb_action.agents.run import trajectory, transcripts
from reb_action.agents.run.access import ModelAccess, find_upstream, open_model_access
from reb_action.agents.run.execution import (
    AgentExecution,
    describe_end,
    describe_run,
    execute_agent,
    find_other_model,
    read_execution,
)
from reb_action.agents.run.launch import Launch, launch
from reb_action.agents.run.log import count_lost_bytes
from reb_action.agents.run.preflight import (
    ask_model,
    describe_failed_run,
    describe_preflight,
    find_failure,
)
from reb_action.agents.run.prompt import (
    RETRY_NOTE,
    Prompt,
    TaskFacts,
    list_budget,
    write_prompt,
    write_resume_note,
)
from reb_action.agents.run.trajectory import Source, Trajectory
from reb_action.agents.spec import AgentLimits, AgentSpec, Task
from reb_action.errors import SandboxError, UsageError
from reb_action.model.agent import AgentRun, Interruption, Key, Protocol, Resume, Tally
from reb_action.model.progress import Progress
from reb_action.sandbox import select
from reb_action.sandbox.protocol import Kind, Network, Sandbox
from reb_action.session import reserve, state
from reb_action.session import secrets as session_secrets
from reb_action.session.layout import SessionLayout
from reb_action.session.progress import AgentProgress
from reb_action.session.state import Phase, Session
from reb_action.trial.fault import demand_result, record_full_disk
from reb_action.trial.freeze import freeze
from reb_action.trial.live import LiveView
from reb_action.trial.resume import ResumePlan, find_tally
from reb_action.trial.resume import resume as resume_trial


@dataclass(frozen=True, kw_only=True, slots=True)
class _Ended:
    """An agent whose command has ended, what the gateway counted, and what it was given."""

    spec: AgentSpec
    execution: AgentExecution
    tally: Tally | None
    task: Prompt
    interruptions: tuple[Interruption, ...]


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
    ended: _Ended | None,
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
                run = _record(layout, session, ended)
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
) -> tuple[Sandbox, _Ended]:
    """Run the agent, or go on with one that was interrupted; return how it ended."""
    spec = agent(session.agent.name, argument=session.agent.argument)
    plan = ResumePlan(progress=AgentProgress(), runs=True)
    sandbox = None
    if session.phase is Phase.AGENT:
        sandbox, plan = resume_trial(layout, session, spec, how, tell=tell)
    if sandbox is None or plan.runs:
        _demand_model(layout, session, environ=environ, tell=tell)
        sandbox = sandbox or select.attach(session.spec, session.handle)
        return sandbox, _run(layout, session, sandbox, plan, environ=environ, tell=tell, live=live)
    return sandbox, _Ended(
        spec=spec,
        execution=read_execution(sandbox, plan.progress, describe_end(plan.progress)),
        tally=find_tally(layout, session),
        task=_task(sandbox, session, spec),
        interruptions=plan.progress.interruptions,
    )


def _demand_model(
    layout: SessionLayout, session: Session, *, environ: Mapping[str, str], tell: Progress
) -> None:
    """Ask the model once; raise ModelError, and record why, if no agent could work with it.

    The trial stays as it is: with another key the same command starts the agent.
    """
    spec = agent(session.agent.name, argument=session.agent.argument)
    preflight = ask_model(session, spec, environ)
    upstream = find_upstream(spec, session, "")
    if preflight is None or upstream is None:
        return
    tell(f"asked the model once: {describe_preflight(upstream, preflight)}")
    trouble = find_failure(preflight)
    if trouble is None:
        return
    run = describe_failed_run(session, spec, trouble)
    documents.write(layout.agent_run, run, kind="agent_run")
    demand_result(run, state.find_limits(layout))


def _run(
    layout: SessionLayout,
    session: Session,
    sandbox: Sandbox,
    plan: ResumePlan,
    *,
    environ: Mapping[str, str],
    tell: Progress,
    live: bool,
) -> _Ended:
    """Run the agent to its end, its deadline or a limit, and return how it ended."""
    spec = agent(session.agent.name, argument=session.agent.argument)
    task = _task(sandbox, session, spec)
    view = LiveView(tell, shows_turns=live)
    seconds = plan.progress.seconds
    with open_model_access(
        layout, session, spec, sandbox, environ, on_turn=view.add_turn, elapsed_seconds=seconds
    ) as access:
        # The sandbox gets the key or placeholder itself, and the agent may keep copies of it.
        given = () if access.model is None else (access.model.key,)
        session_secrets.remember(layout, given)
        left = max(session.agent.total_seconds - round(seconds), 1)
        tell(f"running the agent {spec.name} (at most {left} s)")
        words = write_resume_note(left) if plan.resumes else task.text
        prepared = _prepare(
            sandbox, session, spec, access, words, environ=environ, resumes=plan.resumes
        )
        again = None
        if session.agent.protocol is Protocol.PAPER:
            note = "" if spec.paper.task is Task.NEXAU else RETRY_NOTE
            text = f"{task.text}{note}"
            again = _prepare(sandbox, session, spec, access, text, environ=environ)
        # From here on the agent may have changed the sandbox: a second run would not be a fair one.
        state.advance(layout, Phase.AGENT)
        execution = execute_agent(
            sandbox,
            spec,
            prepared,
            retry=again,
            beat=view.beat,
            limits=_limits(session),
            gateway=access.gateway,
            secrets=access.secrets,
            layout=layout,
            before=plan.progress,
        )
        hidden = (*access.secrets, *given)
        transcripts.collect(sandbox, spec, layout.trajectory / "sessions", secrets=hidden)
    # The gateway is closed now, so its tally has also the calls that were interrupted.
    tally = access.gateway.tally() if access.gateway is not None and access.counts else None
    return _Ended(
        spec=spec,
        execution=execution,
        tally=tally,
        task=task,
        interruptions=plan.progress.interruptions,
    )


def _task(sandbox: Sandbox, session: Session, spec: AgentSpec) -> Prompt:
    choice, place = session.agent, session.spec
    isolated = place.kind is Kind.DOCKER
    counted = choice.model is not None and choice.model.key is Key.GATEWAY
    facts = TaskFacts(
        repository=session.trial.manifest.repository,
        total_seconds=choice.total_seconds,
        idle_seconds=choice.idle_seconds,
        root=place.root,
        isolated=isolated,
        network=str(place.network),
        hosts=choice.hosts,
        memory_mib=place.limits.memory_mib if isolated else None,
        disk_mib=place.limits.disk_mib,
        gpus=place.gpus,
        budget=list_budget(choice.model.budget) if choice.model and counted else (),
    )
    return write_prompt(sandbox.layout, facts, protocol=choice.protocol, task=spec.paper.task)


def _prepare(
    sandbox: Sandbox,
    session: Session,
    spec: AgentSpec,
    access: ModelAccess,
    task: str,
    *,
    environ: Mapping[str, str],
    resumes: bool = False,
) -> Launch:
    return launch(
        sandbox.layout,
        spec,
        prompt=task,
        deadline_seconds=session.agent.total_seconds,
        settings=proxied(settings(environ), proxy=access.proxy, direct=access.gateway is None),
        model=access.model,
        resumes=resumes,
    )


def _record(layout: SessionLayout, session: Session, ended: _Ended) -> AgentRun:
    """Return how the agent ended and what it used; write its trajectory where it has one."""
    spec, execution, tally, task = ended.spec, ended.execution, ended.tally, ended.task
    reading = parsers.reading(spec.parser, layout.trajectory)
    account = None if reading is None else reading.account
    model = session.agent.model
    run = replace(
        describe_run(spec, execution, limits=_limits(session), account=account, tally=tally),
        model=None if model is None else model.name,
        key=None if model is None else model.key,
        prompt_sha256=task.template_sha256,
        network=_network(session),
        limits=state.find_limits(layout),
        protocol=session.agent.protocol,
        root=session.spec.root,
        interruptions=ended.interruptions,
    )
    if model is not None and not model.any_model:
        run = replace(run, invalid=find_other_model(model.name, run))
    document = _trajectory(layout, reading)
    if document is not None:
        path = layout.trajectory_document
        trajectory.write(path, document, run, trial=session.trial.id, prompt=task.text)
    return run


def _trajectory(layout: SessionLayout, reading: Reading | None) -> Trajectory | None:
    """Return the run turn by turn: as the gateway saw it, or else as the agent's events say."""
    steps = read_steps(layout.conversation)
    if steps:
        return Trajectory(steps=steps, source=Source.GATEWAY)
    if reading is None:
        return None
    lost = count_lost_bytes(layout.trajectory / "stdout")
    return Trajectory(steps=reading.steps, source=Source.EVENTS, lost_bytes=lost)


def _limits(session: Session) -> AgentLimits:
    return AgentLimits(
        total_seconds=session.agent.total_seconds,
        setup_seconds=session.agent.setup_seconds,
        idle_seconds=session.agent.idle_seconds,
    )


def _network(session: Session) -> str:
    if session.spec.network is Network.ALLOWED:
        return f"{Network.ALLOWED}: {', '.join(session.agent.hosts)}"
    return str(session.spec.network)
