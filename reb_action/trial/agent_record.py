"""The record of an agent's run: how it ended, what it used, and its trajectory."""

from dataclasses import replace

from reb_action.agents import parsers
from reb_action.agents.parsers.conversation import read_steps
from reb_action.agents.parsers.steps import Reading
from reb_action.agents.run import trajectory
from reb_action.agents.run.execution import (
    describe_run,
    find_other_model,
)
from reb_action.agents.run.log import count_lost_bytes
from reb_action.agents.run.trajectory import Source, Trajectory
from reb_action.model.agent import AgentRun
from reb_action.sandbox.protocol import Network
from reb_action.session import state
from reb_action.session.layout import SessionLayout
from reb_action.session.state import Session
from reb_action.trial.agent_command import EndedAgent, agent_limits


def record_run(layout: SessionLayout, session: Session, ended: EndedAgent) -> AgentRun:
    """Return how the agent ended and what it used; write its trajectory, if it has one."""
    spec, execution, tally, task = ended.spec, ended.execution, ended.tally, ended.task
    reading = parsers.reading(spec.parser, layout.trajectory)
    account = None if reading is None else reading.account
    model = session.agent.model
    run = replace(
        describe_run(spec, execution, limits=agent_limits(session), account=account, tally=tally),
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


def _network(session: Session) -> str:
    if session.spec.network is Network.ALLOWED:
        return f"{Network.ALLOWED}: {', '.join(session.agent.hosts)}"
    return str(session.spec.network)
