"""The agent's command: its task, its access to the model, and its run to an end or a limit."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from reb_action.agents.catalogue import agent
from reb_action.agents.environment import proxied, settings
from reb_action.agents.run import transcripts
from reb_action.agents.run.access import ModelAccess, open_model_access
from reb_action.agents.run.execution import (
    AgentExecution,
    execute_agent,
)
from reb_action.agents.run.launch import Launch, launch
from reb_action.agents.run.prompt import (
    RETRY_NOTE,
    Prompt,
    TaskFacts,
    list_budget,
    write_prompt,
    write_resume_note,
)
from reb_action.agents.setup_plan import write_setup
from reb_action.agents.spec import AgentLimits, AgentSpec, Need, Task
from reb_action.model.agent import Interruption, Key, Protocol, Tally
from reb_action.model.progress import Progress
from reb_action.sandbox.protocol import Kind, Sandbox
from reb_action.session import secrets as session_secrets
from reb_action.session import state
from reb_action.session.layout import SessionLayout
from reb_action.session.state import Phase, Session
from reb_action.trial.live import LiveView
from reb_action.trial.resume import ResumePlan


@dataclass(frozen=True, kw_only=True, slots=True)
class EndedAgent:
    """An agent whose command has ended, the counts of the gateway, and its task."""

    spec: AgentSpec
    execution: AgentExecution
    tally: Tally | None
    task: Prompt
    interruptions: tuple[Interruption, ...]


def run_command(
    layout: SessionLayout,
    session: Session,
    sandbox: Sandbox,
    plan: ResumePlan,
    *,
    environ: Mapping[str, str],
    tell: Progress,
    live: bool,
) -> EndedAgent:
    """Run the agent to its end, its deadline or a limit, and return how it ended."""
    spec = agent(session.agent.name, argument=session.agent.argument)
    if Need.SETUP in spec.needs:
        setup = write_setup(session.trial.manifest, layout.source)
        spec = replace(spec, files=(*spec.files, setup))
    task = make_task(sandbox, session, spec)
    view = LiveView(tell, shows_turns=live)
    seconds = plan.progress.seconds
    with open_model_access(
        layout, session, spec, sandbox, environ, on_turn=view.add_turn, elapsed_seconds=seconds
    ) as access:
        tell(f"running the agent {spec.name} (at most {_seconds_left(session, plan)} s)")
        execution = _execute(
            layout, session, sandbox, spec, access, task, plan, environ=environ, beat=view.beat
        )
    # The gateway is closed now, so its tally has also the calls that were interrupted.
    tally = access.gateway.tally() if access.gateway is not None and access.counts else None
    return EndedAgent(
        spec=spec,
        execution=execution,
        tally=tally,
        task=task,
        interruptions=plan.progress.interruptions,
    )


def _execute(
    layout: SessionLayout,
    session: Session,
    sandbox: Sandbox,
    spec: AgentSpec,
    access: ModelAccess,
    task: Prompt,
    plan: ResumePlan,
    *,
    environ: Mapping[str, str],
    beat: Callable[[str], None],
) -> AgentExecution:
    """Run the agent's command, and collect the sessions that its program has kept."""
    # The sandbox gets the key or placeholder itself, and the agent may keep copies of it.
    given = () if access.model is None else (access.model.key,)
    session_secrets.remember(layout, given)
    words = write_resume_note(_seconds_left(session, plan)) if plan.resumes else task.text
    first = _prepare(sandbox, session, spec, access, words, environ=environ, resumes=plan.resumes)
    again = _prepare_retry(sandbox, session, spec, access, task, environ=environ)
    # From here on the agent may have changed the sandbox: a second run would not be a fair one.
    state.advance(layout, Phase.AGENT)
    execution = execute_agent(
        sandbox,
        spec,
        first,
        retry=again,
        beat=beat,
        limits=agent_limits(session),
        gateway=access.gateway,
        secrets=access.secrets,
        layout=layout,
        before=plan.progress,
    )
    hidden = (*access.secrets, *given)
    transcripts.collect(sandbox, spec, layout.trajectory / "sessions", secrets=hidden)
    return execution


def _seconds_left(session: Session, plan: ResumePlan) -> int:
    return max(session.agent.total_seconds - round(plan.progress.seconds), 1)


def make_task(sandbox: Sandbox, session: Session, spec: AgentSpec) -> Prompt:
    """Return the prompt of a trial: its protocol's text with the facts of its sandbox."""
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


def _prepare_retry(
    sandbox: Sandbox,
    session: Session,
    spec: AgentSpec,
    access: ModelAccess,
    task: Prompt,
    *,
    environ: Mapping[str, str],
) -> Launch | None:
    """Return the second start that the paper's protocol allows; None under another protocol."""
    if session.agent.protocol is not Protocol.PAPER:
        return None
    note = "" if spec.paper.task is Task.NEXAU else RETRY_NOTE
    return _prepare(sandbox, session, spec, access, f"{task.text}{note}", environ=environ)


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


def agent_limits(session: Session) -> AgentLimits:
    """Return the time limits of the agent, in seconds."""
    return AgentLimits(
        total_seconds=session.agent.total_seconds,
        setup_seconds=session.agent.setup_seconds,
        idle_seconds=session.agent.idle_seconds,
    )
