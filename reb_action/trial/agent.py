"""The agent phase: runs the agent to its end or its deadline, and keeps its account."""

from collections.abc import Mapping
from dataclasses import replace

from reb_action import documents
from reb_action.agents import parsers
from reb_action.agents.catalogue import agent
from reb_action.agents.environment import proxied, settings
from reb_action.agents.run import trajectory, transcripts
from reb_action.agents.run.access import ModelAccess, reach
from reb_action.agents.run.execution import Driven, drive, told
from reb_action.agents.run.launch import Launch, launch
from reb_action.agents.run.prompt import Prompt, prompt
from reb_action.agents.spec import AgentLimits, AgentSpec
from reb_action.errors import UsageError
from reb_action.model.agent import AgentRun
from reb_action.progress import Progress
from reb_action.sandbox import select
from reb_action.sandbox.protocol import Network, Sandbox
from reb_action.session import secrets as session_secrets
from reb_action.session import state
from reb_action.session.layout import SessionLayout
from reb_action.session.state import Phase, Session
from reb_action.trial.freeze import freeze


def work(
    layout: SessionLayout,
    begun: Session,
    sandbox: Sandbox,
    *,
    environ: Mapping[str, str],
    tell: Progress,
) -> AgentRun:
    """Let the agent work to its end, its deadline or a limit, and say how it ended."""
    chosen = agent(begun.agent.name, argument=begun.agent.argument)
    own = _own_secrets(chosen, environ)
    task = prompt(
        sandbox.layout,
        repository=begun.trial.manifest.repository,
        deadline_seconds=begun.agent.total_seconds,
    )
    with reach(layout, begun, chosen, sandbox, environ) as way:
        # The sandbox gets these itself, and keeps what it likes of them.
        given = (*own.values(), *(() if way.model is None else (way.model.key,)))
        session_secrets.remember(layout, given)
        tell(f"the agent {chosen.name} is at work (at most {begun.agent.total_seconds} s)")
        started = _launched(sandbox, begun, chosen, way, task, own=own, environ=environ)
        # From here on it has had its chance: another run in this sandbox would be a second one.
        state.save(layout, replace(state.load(layout), phase=Phase.AGENT))
        driven = drive(
            sandbox,
            chosen,
            started,
            limits=_limits(begun),
            gateway=way.gateway,
            secrets=way.secrets,
            layout=layout,
        )
        secrets = (*way.secrets, *given)
        transcripts.collect(sandbox, chosen, layout.trajectory / "sessions", secrets=secrets)
    # What was under way has been counted now.
    return _told(layout, begun, chosen, driven, way, task)


def _launched(
    sandbox: Sandbox,
    begun: Session,
    spec: AgentSpec,
    way: ModelAccess,
    task: Prompt,
    *,
    own: Mapping[str, str],
    environ: Mapping[str, str],
) -> Launch:
    return launch(
        sandbox.layout,
        spec,
        prompt=task.text,
        deadline_seconds=begun.agent.total_seconds,
        settings=proxied(settings(environ), proxy=way.proxy, direct=way.gateway is None),
        secrets=own,
        model=way.model,
    )


def _told(
    layout: SessionLayout,
    begun: Session,
    spec: AgentSpec,
    driven: Driven,
    way: ModelAccess,
    task: Prompt,
) -> AgentRun:
    tally = way.gateway.tally() if way.gateway is not None and way.counts else None
    read = parsers.reading(spec.parser, layout.trajectory)
    account = None if read is None else read.account
    wanted = begun.agent.model
    run = replace(
        told(spec, driven, limits=_limits(begun), account=account, tally=tally),
        model=None if wanted is None else wanted.name,
        key=None if wanted is None else wanted.key,
        prompt_sha256=task.template_sha256,
        network=_network(begun),
    )
    if read is not None:
        form = layout.trajectory / "trajectory.json"
        trajectory.write(form, read, run, trial=begun.trial.id, prompt=task.text)
    return run


def _limits(begun: Session) -> AgentLimits:
    return AgentLimits(
        total_seconds=begun.agent.total_seconds,
        setup_seconds=begun.agent.setup_seconds,
        idle_seconds=begun.agent.idle_seconds,
    )


def _own_secrets(spec: AgentSpec, environ: Mapping[str, str]) -> dict[str, str]:
    missing = [name for name in spec.secrets if not environ.get(name)]
    if missing:
        raise UsageError(f"the agent {spec.name} needs {', '.join(missing)}; set it for this step")
    return {name: environ[name] for name in spec.secrets}


def _network(begun: Session) -> str:
    if begun.spec.network is Network.ALLOWED:
        return f"{Network.ALLOWED}: {', '.join(begun.agent.hosts)}"
    return str(begun.spec.network)


def run_agent(layout: SessionLayout, *, environ: Mapping[str, str], tell: Progress) -> AgentRun:
    """Let the agent work, to its end or its deadline; then freeze the sandbox."""
    with state.at_work(layout) as begun:
        if begun.phase is not Phase.STARTED:
            raise UsageError(f"the agent in {layout.folder} has begun before; start a new trial")
        sandbox = select.attach(begun.spec, begun.handle)
        ended = work(layout, begun, sandbox, environ=environ, tell=tell)
        documents.write(layout.agent_run, ended, kind="agent_run")
        state.save(layout, replace(state.load(layout), phase=Phase.AGENT_DONE))
        freeze(layout, begun, sandbox, tell=tell)
    return ended
