"""The phases of a trial, each a function over its session folder; the command line calls them."""

import os
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from reb_action import copies, documents, evidence, leftovers, observing, origin, session, tracked
from reb_action.agents import install
from reb_action.agents.catalogue import agent
from reb_action.agents.environment import settings
from reb_action.agents.spec import AgentSpec
from reb_action.errors import RebError, UsageError, told
from reb_action.freezing import Tell, freeze
from reb_action.judging import conclude
from reb_action.layout import SessionLayout
from reb_action.model.agent import AgentRun, Key
from reb_action.model.manifest import Level, Manifest, Trial
from reb_action.model.verdict import LevelResult, Verdict
from reb_action.render.lines import agent_line
from reb_action.sandbox import scratch, select
from reb_action.sandbox.protocol import Kind, Limits, Network, SandboxSpec
from reb_action.session import AgentChoice, Phase, Session
from reb_action.working import work


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """All that a user decides about one trial."""

    manifest: Manifest
    agent: AgentChoice
    folder: Path
    attempt: int = 1
    kind: Kind = Kind.DOCKER
    image: str | None = None
    mirror: Path | None = None
    gpus: int = 0
    network: Network = Network.OPEN
    levels: tuple[Level, ...] = tuple(Level)
    limits: Limits = field(default_factory=Limits)


def start(
    options: Options,
    *,
    owner: int,
    tell: Tell,
    environ: Mapping[str, str] = MappingProxyType({}),
) -> Session:
    """Sweep leftovers, make the session folder, start the sandbox, check the commit out in it.

    The agent's program is installed before that, where this machine does not have it yet.
    """
    chosen = agent(options.agent.name, argument=options.agent.argument)
    layout = SessionLayout(folder=options.folder.absolute())
    _demand_free(layout)
    leftovers.remove(options.kind, beside=layout.folder.parent, tell=tell)
    trial = Trial(manifest=options.manifest, agent=chosen.name, attempt=options.attempt)
    existed = layout.folder.exists()
    begun = _session(options, trial, layout, owner)
    begun = _with_program(begun, chosen, environ, tell)
    _claim(layout)
    try:
        session.save(layout, begun)
        scratch.mark(layout.work, begun.spec)
        if begun.spec.gateway_mount is not None:
            layout.gateway.mkdir()
        return _begin(options, layout, begun, tell)
    except BaseException:
        # Nothing of a trial that never began is worth keeping, and its sandbox least of all.
        _remove(begun.spec)
        scratch.remove(layout.work)
        shutil.rmtree(layout.folder)
        if existed:
            layout.folder.mkdir()
        raise


def _with_program(
    begun: Session, spec: AgentSpec, environ: Mapping[str, str], tell: Tell
) -> Session:
    if spec.install is None:
        return begun
    tell(f"installing {spec.name} {spec.install.version[:12]}, unless it is here already")
    folder = install.ensure(
        spec,
        kind=begun.spec.kind,
        image=begun.spec.image,
        cache=install.cache_folder(environ),
        settings=settings(environ),
        seconds=begun.agent.setup_seconds,
    )
    return replace(begun, spec=replace(begun.spec, agent_mount=str(folder)))


def _claim(layout: SessionLayout) -> None:
    """Take a folder for one trial: of two that begin in it at once, one is refused."""
    layout.folder.mkdir(parents=True, exist_ok=True)
    try:
        layout.session.touch(exist_ok=False)
    except FileExistsError:
        raise _begins(layout) from None


def _begins(layout: SessionLayout) -> UsageError:
    return UsageError(f"another trial begins in {layout.folder}; name another folder")


def _begin(options: Options, layout: SessionLayout, begun: Session, tell: Tell) -> Session:
    tell(f"starting the sandbox ({options.kind})")
    sandbox = select.start(begun.spec)
    begun = session.save(layout, replace(begun, handle=sandbox.handle))
    tell(f"checking out {options.manifest.repository} at {options.manifest.commit[:12]}")
    if options.mirror and origin.in_mirror(options.mirror, options.manifest.repository) is None:
        tell(f"the mirror {options.mirror} does not have it; fetching it from GitHub")
    checkout = origin.checkout(options.manifest, folder=layout.source, mirror=options.mirror)
    tracked.demand_entrypoints(options.manifest, checkout)
    sandbox.put(sandbox.layout.repository, copies.archive(checkout))
    return session.save(layout, replace(begun, phase=Phase.STARTED, busy=None))


def run_agent(layout: SessionLayout, *, environ: Mapping[str, str], tell: Tell) -> AgentRun:
    """Let the agent work, to its end or its deadline; then freeze the sandbox."""
    with session.at_work(layout) as begun:
        if begun.phase is not Phase.STARTED:
            raise UsageError(f"the agent in {layout.folder} has begun before; start a new trial")
        sandbox = select.attach(begun.spec, begun.handle)
        ended = work(layout, begun, sandbox, environ=environ, tell=tell)
        documents.write(layout.agent_run, ended, kind="agent_run")
        session.save(layout, replace(session.load(layout), phase=Phase.AGENT_DONE))
        freeze(layout, begun, sandbox, tell=tell)
    return ended


def stop(layout: SessionLayout, *, tell: Tell) -> None:
    """Remove the sandbox and the scratch of a trial; what was observed stays."""
    begun = session.load(layout)
    if begun.handle or begun.phase is Phase.STARTING:
        _remove(begun.spec)
    scratch.remove(layout.work)
    # A killed step may have left a log that no verdict has sealed.
    evidence.seal(layout)
    session.save(layout, replace(begun, phase=Phase.STOPPED, busy=None))
    tell("the sandbox is removed")


def stop_all(*, tell: Tell) -> None:
    """Remove every sandbox that trials on this machine have left or still use."""
    for kind in Kind:
        for name in select.sweep(kind, alive=lambda _: False):
            tell(f"removed the sandbox of session {name}")


def run(options: Options, *, environ: Mapping[str, str], tell: Tell) -> Verdict:
    """Do all phases in one process; whatever happens, there is a verdict and no sandbox."""
    layout = SessionLayout(folder=options.folder.absolute())
    # Not below: a start that is refused must not touch the trial that has the folder.
    start(options, owner=os.getpid(), tell=tell, environ=environ)
    try:
        tell(agent_line(run_agent(layout, environ=environ, tell=tell)))
        for level in options.levels:
            if level is not Level.C5:
                _observed(layout, level, tell)
        verdict = conclude(layout)
        _told(verdict.result(Level.C5), tell)
        return verdict
    except Exception:
        conclude(layout)
        raise
    finally:
        _stopped(layout, tell)


def _stopped(layout: SessionLayout, tell: Tell) -> None:
    try:
        stop(layout, tell=tell)
    except RebError as error:
        # The verdict is worth more than the leftover, which the next start removes.
        tell(f"{error}. The next start on this machine removes what is left.")


def _observed(layout: SessionLayout, level: Level, tell: Tell) -> None:
    try:
        _told(observing.observe(layout, level, tell=tell), tell)
    except Exception as error:  # noqa: BLE001
        # One level that cannot be observed is no reason to lose the others; it ends as invalid.
        tell(f"{level} could not be observed: {told(error)}")


def _told(result: LevelResult, tell: Tell) -> None:
    tell(f"{result.level} {result.outcome}: {result.reason}")


def _session(options: Options, trial: Trial, layout: SessionLayout, owner: int) -> Session:
    spec = SandboxSpec(
        kind=options.kind,
        session=secrets.token_hex(8),
        trial=trial.id,
        image=options.image,
        mount=str(layout.mount),
        scratch=str(layout.work / "sandbox"),
        gpus=options.gpus,
        network=options.network,
        limits=options.limits,
        gateway_mount=str(layout.gateway) if _has_gateway(options) else None,
    )
    return Session(
        trial=trial,
        agent=options.agent,
        levels=options.levels,
        spec=spec,
        owner=session.process(owner),
        busy=session.process(os.getpid()),
    )


def _has_gateway(options: Options) -> bool:
    """Say whether the container has to be joined to a gateway; a local sandbox is beside it."""
    model = options.agent.model
    asked = model is not None and model.key is Key.GATEWAY
    return options.kind is Kind.DOCKER and (asked or options.network is Network.ALLOWED)


def _remove(spec: SandboxSpec) -> None:
    select.sweep(spec.kind, alive=lambda trace: trace.session != spec.session)


def _demand_free(layout: SessionLayout) -> None:
    if not layout.folder.exists():
        return
    if layout.session.exists():
        # Claimed a moment ago, and not written yet.
        if layout.session.stat().st_size == 0:
            raise _begins(layout)
        begun = session.load(layout)
        if session.goes_on(begun):
            raise UsageError(f"a trial goes on in {layout.folder}; name another folder, or stop it")
        if begun.phase is not Phase.STOPPED:
            _remove(begun.spec)
        raise UsageError(f"{layout.folder} holds a trial already; name another folder or remove it")
    if any(layout.folder.iterdir()):
        raise UsageError(f"{layout.folder} is not empty; name a folder that does not exist")
