"""Resumes a trial whose runner was killed while the agent worked."""

import shutil
from dataclasses import dataclass, replace

from reb_action import documents
from reb_action.agents.run.access import find_price_list
from reb_action.agents.spec import AgentSpec
from reb_action.errors import SandboxLostError
from reb_action.gateway.ledger import Ledger
from reb_action.gateway.prices import load_prices
from reb_action.gateway.settings import Budget
from reb_action.model.agent import AgentRun, Ending, Interruption, Key, Resume, Tally
from reb_action.model.fault import FaultCause
from reb_action.model.progress import Progress
from reb_action.sandbox import select
from reb_action.sandbox.protocol import Sandbox
from reb_action.session import state
from reb_action.session.layout import SessionLayout
from reb_action.session.progress import AgentProgress, load_progress, save_progress
from reb_action.session.state import Phase, Session
from reb_action.source import pristine as source_pristine
from reb_action.source import source_archive
from reb_action.trial.fault import demand_result


@dataclass(frozen=True, kw_only=True, slots=True)
class ResumePlan:
    """How an interrupted agent continues.

    `runs`: its command is started, with `resumes` to continue its session, otherwise from the
    beginning. If not `runs`, its command is over, and its environment is measured.
    """

    progress: AgentProgress
    runs: bool
    resumes: bool = False


def resume(
    layout: SessionLayout, session: Session, spec: AgentSpec, how: Resume, *, tell: Progress
) -> tuple[Sandbox, ResumePlan]:
    """Return the sandbox, without running processes, and the plan for its agent.

    If the sandbox no longer exists, records what is lost and raises SandboxLostError.
    """
    progress = load_progress(layout)
    tally = find_tally(layout, session)
    part = Interruption(
        seconds=progress.seconds, resumed=how, usage=None if tally is None else tally.usage
    )
    tell(f"the runner was killed after {describe_part(part)}")
    if how is Resume.RESTART:
        return _restart(layout, session, progress, part, tell)
    try:
        sandbox = select.attach(session.spec, session.handle)
    except SandboxLostError:
        _record_loss(layout, session, spec, progress, tally, part)
        raise
    sandbox.halt()
    sandbox.resume(network=session.spec.network)
    plan = _plan(spec, progress, tally, how)
    part = replace(part, resumed=Resume.CONTINUE if plan.runs else Resume.MEASURE)
    tell(_describe(plan))
    if not progress.has_begun or progress.has_ended:
        return sandbox, plan
    interrupted = replace(progress, interruptions=(*progress.interruptions, part))
    return sandbox, replace(plan, progress=interrupted)


def find_tally(layout: SessionLayout, session: Session) -> Tally | None:
    """Return the counts of the gateway that was killed; None if there was none."""
    model = session.agent.model
    if model is None or model.key is not Key.GATEWAY or not layout.ledger.exists():
        return None
    prices = load_prices(find_price_list(model))
    return Ledger(Budget(), prices, layout.model_calls, saved=layout.ledger).tally()


def describe_part(part: Interruption) -> str:
    """Return the time and the usage of a part of a run as text."""
    words = f"{part.seconds:.0f} s of the agent's work"
    if part.usage is None:
        return words
    used = part.usage
    cost = "" if used.cost_usd is None else f", {used.cost_usd:.4f} USD"
    tokens = f"{used.input_tokens or 0:,} + {used.output_tokens or 0:,} tokens"
    return f"{words}, {used.turns or 0} answers of the model, {tokens}{cost}"


def _plan(spec: AgentSpec, progress: AgentProgress, tally: Tally | None, how: Resume) -> ResumePlan:
    if progress.has_ended:
        return ResumePlan(progress=progress, runs=False)
    if not progress.has_begun:
        return ResumePlan(progress=progress, runs=True)
    if how is Resume.MEASURE:
        return ResumePlan(progress=progress, runs=False)
    # Without an answer of its model it has done nothing yet, and has no session to continue.
    if tally is not None and not tally.usage.turns:
        return ResumePlan(progress=progress, runs=True)
    return ResumePlan(progress=progress, runs=bool(spec.resume), resumes=bool(spec.resume))


def _describe(plan: ResumePlan) -> str:
    if plan.resumes:
        return "the agent continues its session"
    if plan.runs:
        return "the agent had not begun to work; it starts now"
    if plan.progress.has_ended:
        return "the agent had ended; reading what it left"
    return "the agent is not resumed; the environment that it left is measured"


def _record_loss(
    layout: SessionLayout,
    session: Session,
    spec: AgentSpec,
    progress: AgentProgress,
    tally: Tally | None,
    part: Interruption,
) -> None:
    """Record that the sandbox no longer exists, and raise SandboxError with what is lost."""
    model = session.agent.model
    run = AgentRun(
        agent=spec.name,
        version=spec.install.version if spec.install is not None else "",
        ending=Ending.CRASHED,
        exit_code=None,
        seconds=progress.seconds,
        setup_seconds=progress.setup_seconds,
        model=None if model is None else model.name,
        key=None if model is None else model.key,
        usage=None if tally is None else tally.usage,
        estimate=None if tally is None else tally.estimate,
        vendor=None if tally is None else tally.vendor,
        detail=f"lost: {describe_part(part)}",
        cause=FaultCause.SANDBOX_LOST,
        limits=state.find_limits(layout),
    )
    documents.write(layout.agent_run, run, kind="agent_run")
    demand_result(run, run.limits)


def _restart(
    layout: SessionLayout,
    session: Session,
    progress: AgentProgress,
    part: Interruption,
    tell: Progress,
) -> tuple[Sandbox, ResumePlan]:
    """Start a new sandbox in place of the old one; the work of the earlier part is discarded."""
    tell("starting a new sandbox; the agent begins again")
    for path in (layout.agent_log, layout.agent_run, layout.model_calls, layout.ledger):
        path.unlink(missing_ok=True)
    shutil.rmtree(layout.trajectory, ignore_errors=True)
    pristine = source_pristine.open_existing(layout.source, session.trial.manifest.commit)
    sandbox = select.start(session.spec)
    sandbox.put(sandbox.layout.repository, source_archive.pack_source(pristine))
    state.save(layout, replace(state.load(layout), handle=sandbox.handle, phase=Phase.STARTED))
    fresh = AgentProgress(interruptions=(*progress.interruptions, part))
    save_progress(layout, fresh)
    return sandbox, ResumePlan(progress=fresh, runs=True)
