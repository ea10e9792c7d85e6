"""Starts a trial: sandbox, agent program and checkout."""

import os
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from reb_action.agents import install
from reb_action.agents.catalogue import agent
from reb_action.agents.contestant import identify
from reb_action.agents.environment import installation_settings
from reb_action.agents.setup_plan import write_setup
from reb_action.agents.spec import AgentSpec, Need
from reb_action.corpus.manifests import in_corpus
from reb_action.corpus.qualification import find_limits
from reb_action.errors import UsageError
from reb_action.model.agent import Key, Protocol
from reb_action.model.manifest import Manifest, Trial
from reb_action.model.progress import Progress
from reb_action.sandbox import scratch, select
from reb_action.sandbox.protocol import Kind, Network, SandboxSpec
from reb_action.session import reserve, state
from reb_action.session.layout import SessionLayout
from reb_action.session.state import Phase, Session
from reb_action.source import checkout as source_checkout
from reb_action.source import entrypoints, source_archive
from reb_action.source.own_checkout import count_changes, count_imports
from reb_action.source.pristine import Source
from reb_action.trial import leftovers
from reb_action.trial.leftovers import remove_sandbox
from reb_action.trial.options import Options


def start(
    options: Options,
    *,
    owner: int,
    tell: Progress,
    environ: Mapping[str, str] = MappingProxyType({}),
) -> Session:
    """Sweep leftovers, make the session folder, start the sandbox, check the commit out in it.

    The agent's program is installed before that, where this machine does not have it yet.
    """
    chosen = agent(options.agent.name, argument=options.agent.argument)
    layout = SessionLayout(folder=options.folder.absolute())
    _demand_free(layout)
    leftovers.remove(
        options.kind, beside=layout.folder.parent, tell=tell, resume_hours=options.resume_hours
    )
    trial = Trial(
        manifest=options.manifest,
        agent=chosen.name,
        attempt=options.attempt,
        contestant=identify(chosen, options.agent, options.contestant),
    )
    existed = layout.folder.exists()
    begun = _session(options, chosen, trial, layout, owner)
    begun = _with_program(begun, chosen, environ, tell)
    _claim(layout)
    try:
        state.save(layout, begun)
        scratch.mark(layout.work, begun.spec)
        reserve.hold(layout)
        if begun.spec.gateway_mount is not None:
            layout.gateway.mkdir()
        return _begin(options, layout, begun, tell)
    except BaseException:
        # Nothing of a trial that never began is worth keeping, and its sandbox least of all.
        remove_sandbox(begun.spec)
        scratch.remove(layout.work)
        shutil.rmtree(layout.folder)
        if existed:
            layout.folder.mkdir()
        raise


def _with_program(
    begun: Session, spec: AgentSpec, environ: Mapping[str, str], tell: Progress
) -> Session:
    if spec.install is None:
        return begun
    tell(f"installing {spec.name} {spec.install.version[:12]}, unless it is here already")
    folder = install.ensure(
        spec,
        kind=begun.spec.kind,
        image=begun.spec.image,
        cache=install.cache_folder(environ),
        settings=installation_settings(environ),
        seconds=begun.agent.setup_seconds,
    )
    return replace(begun, spec=replace(begun.spec, agent_mount=str(folder)))


def _claim(layout: SessionLayout) -> None:
    """Reserve a folder for one trial: if two start in it at once, one is refused."""
    layout.folder.mkdir(parents=True, exist_ok=True)
    try:
        layout.session.touch(exist_ok=False)
    except FileExistsError:
        raise _begins(layout) from None


def _begins(layout: SessionLayout) -> UsageError:
    return UsageError(f"another trial begins in {layout.folder}; name another folder")


def _begin(options: Options, layout: SessionLayout, begun: Session, tell: Progress) -> Session:
    tell(f"starting the sandbox ({options.kind})")
    sandbox = select.start(begun.spec)
    begun = state.save(layout, replace(begun, handle=sandbox.handle))
    checkout = _check_out(options, layout, tell)
    entrypoints.demand_entrypoints(options.manifest, checkout)
    _name_wrong_total(options.manifest, checkout, tell)
    if Need.SETUP in agent(options.agent.name, argument=options.agent.argument).needs:
        write_setup(options.manifest, checkout.folder)
    state.save(layout, _with_imports(begun, checkout))
    sandbox.put(sandbox.layout.repository, source_archive.pack_source(checkout))
    return state.advance(layout, Phase.STARTED)


def _check_out(options: Options, layout: SessionLayout, tell: Progress) -> Source:
    where = "" if options.checkout is None else f", the HEAD of {options.checkout}"
    tell(f"checking out {options.manifest.repository} at {options.manifest.commit[:12]}{where}")
    source = source_checkout.checkout(
        options.manifest,
        folder=layout.source,
        mirror=options.mirror,
        tell=tell,
        origins=options.origins,
        own=options.checkout,
    )
    changes = 0 if options.checkout is None else count_changes(options.checkout, source.folder)
    if changes:
        tell(f"{changes} tracked file(s) have uncommitted changes, which are not measured")
    return source


def _name_wrong_total(manifest: Manifest, checkout: Source, tell: Progress) -> None:
    """Say at once if a manifest outside the corpus declares another number of imports."""
    if manifest.imports is None or in_corpus(manifest):
        return
    counted = count_imports(checkout)
    if counted != manifest.imports:
        tell(f"the manifest says imports: {manifest.imports}, and {counted} were counted")


def _with_imports(begun: Session, checkout: Source) -> Session:
    """Return the session with the count of imports, where the manifest follows its checkout."""
    manifest = begun.trial.manifest
    if not manifest.follows_checkout:
        return begun
    counted = replace(manifest, imports=count_imports(checkout))
    return replace(begun, trial=replace(begun.trial, manifest=counted))


def _is_root(options: Options, chosen: AgentSpec) -> bool:
    """Return whether the agent is root, as in the paper; only in a container."""
    is_paper = options.agent.protocol is Protocol.PAPER
    return is_paper and chosen.paper.root and options.kind is Kind.DOCKER


def _session(
    options: Options, chosen: AgentSpec, trial: Trial, layout: SessionLayout, owner: int
) -> Session:
    spec = SandboxSpec(
        kind=options.kind,
        session=secrets.token_hex(8),
        trial=trial.id,
        image=options.image,
        mount=str(layout.mount),
        scratch=str(layout.work / "sandbox"),
        gpus=options.gpus,
        gpu_ids=options.gpu_ids,
        network=options.network,
        limits=options.limits,
        gateway_mount=str(layout.gateway) if _has_gateway(options) else None,
        root=_is_root(options, chosen),
    )
    return Session(
        trial=trial,
        agent=options.agent,
        levels=options.levels,
        spec=spec,
        owner=state.process(owner),
        busy=state.process(os.getpid()),
        qualified_limits=find_limits(trial.manifest, options.levels),
    )


def _has_gateway(options: Options) -> bool:
    """Return whether the gateway's socket must be mounted; a local sandbox reaches it directly."""
    model = options.agent.model
    asked = model is not None and model.key is Key.GATEWAY
    return options.kind is Kind.DOCKER and (asked or options.network is Network.ALLOWED)


def _demand_free(layout: SessionLayout) -> None:
    if not layout.folder.exists():
        return
    if layout.session.exists():
        # Claimed a moment ago, and not written yet.
        if layout.session.stat().st_size == 0:
            raise _begins(layout)
        begun = state.load(layout)
        if state.goes_on(begun):
            raise UsageError(
                f"a trial is running in {layout.folder}; name another folder, or stop it"
            )
        if state.is_interrupted(begun):
            raise UsageError(
                f"{layout.folder} holds a trial whose runner was killed; resume it with reb agent"
                f" {layout.folder}, or end it with reb stop {layout.folder}"
            )
        if begun.phase is not Phase.STOPPED:
            remove_sandbox(begun.spec)
        raise UsageError(f"{layout.folder} already has a trial; name another folder or remove it")
    if any(layout.folder.iterdir()):
        raise UsageError(f"{layout.folder} is not empty; name a folder that does not exist")
