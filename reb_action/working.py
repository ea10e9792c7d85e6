"""The agent phase: the gateway is opened, the agent works, the gateway is closed for good."""

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from reb_action import hidden
from reb_action.agents import parsers, sessions, trajectory
from reb_action.agents.catalogue import agent
from reb_action.agents.drive import drive, told
from reb_action.agents.environment import KEY_VARIABLE, Model, proxied, settings
from reb_action.agents.launch import launch
from reb_action.agents.prompt import prompt
from reb_action.agents.spec import AgentLimits, AgentSpec
from reb_action.errors import UsageError
from reb_action.freezing import Tell
from reb_action.gateway import Budget, Gateway, Upstream, load_prices
from reb_action.gateway.egress import egress
from reb_action.layout import SessionLayout
from reb_action.model.agent import AgentRun, Key
from reb_action.sandbox.forwarding import PORT, SOCKET, forward
from reb_action.sandbox.protocol import Kind, Network, Sandbox
from reb_action.session import ModelChoice, Session


@dataclass(frozen=True, kw_only=True, slots=True)
class _Reach:
    """How the agent reaches its model and hosts, and what nobody may read afterwards.

    `counts` says that the gateway holds the key and sees every call of the model.
    """

    gateway: Gateway | None = None
    model: Model | None = None
    counts: bool = False
    proxy: str | None = None
    secrets: tuple[str, ...] = ()


def work(
    layout: SessionLayout,
    begun: Session,
    sandbox: Sandbox,
    *,
    environ: Mapping[str, str],
    tell: Tell,
) -> AgentRun:
    """Let the agent work to its end, its deadline or a limit, and say how it ended."""
    chosen = agent(begun.agent.name, argument=begun.agent.argument)
    own = _own_secrets(chosen, environ)
    task = prompt(
        sandbox.layout,
        repository=begun.trial.manifest.repository,
        deadline_seconds=begun.agent.total_seconds,
    )
    limits = AgentLimits(
        total_seconds=begun.agent.total_seconds,
        setup_seconds=begun.agent.setup_seconds,
        idle_seconds=begun.agent.idle_seconds,
    )
    with _reach(layout, begun, chosen, sandbox, environ) as reach:
        # The sandbox gets these itself, and keeps what it likes of them.
        hidden.remember(layout, [*own.values(), *(() if reach.counts else reach.secrets)])
        tell(f"the agent {chosen.name} is at work (at most {limits.total_seconds} s)")
        driven = drive(
            sandbox,
            chosen,
            launch(
                sandbox.layout,
                chosen,
                prompt=task.text,
                deadline_seconds=limits.total_seconds,
                settings=proxied(
                    settings(environ), proxy=reach.proxy, direct=reach.gateway is None
                ),
                secrets=own,
                model=reach.model,
            ),
            limits=limits,
            gateway=reach.gateway,
            secrets=reach.secrets,
            layout=layout,
        )
        secrets = (*reach.secrets, *own.values())
        sessions.collect(sandbox, chosen, layout.trajectory / "sessions", secrets=secrets)
    # What was under way has been counted now.
    tally = reach.gateway.tally() if reach.gateway is not None and reach.counts else None
    read = parsers.reading(chosen.parser, layout.trajectory)
    account = None if read is None else read.account
    wanted = begun.agent.model
    run = replace(
        told(chosen, driven, limits=limits, account=account, tally=tally),
        model=None if wanted is None else wanted.name,
        key=None if wanted is None else wanted.key,
        prompt_sha256=task.template_sha256,
        network=_network(begun),
    )
    if read is not None:
        form = layout.trajectory / "trajectory.json"
        trajectory.write(form, read, run, trial=begun.trial.id, prompt=task.text)
    return run


@contextmanager
def _reach(
    layout: SessionLayout,
    begun: Session,
    spec: AgentSpec,
    sandbox: Sandbox,
    environ: Mapping[str, str],
) -> Generator[_Reach]:
    wanted, hosts = begun.agent.model, begun.agent.hosts
    key = "" if wanted is None else _key(environ)
    secrets = (key,) if key else ()
    model = _direct(wanted, key)
    upstream = _upstream(spec, wanted, key) if model is None else None
    if upstream is None and not hosts:
        yield _Reach(model=model, secrets=secrets)
        return
    inside = begun.spec.kind is Kind.DOCKER
    with (
        _folder(layout.gateway if inside else None) as folder,
        Gateway(
            upstream,
            Budget() if wanted is None else wanted.budget,
            prices=load_prices(),
            record=layout.model_calls,
            listen=None if folder is None else folder / SOCKET,
            egress=egress(hosts) if hosts else None,
        ) as gateway,
    ):
        if inside:
            forward(sandbox)
        address = f"http://127.0.0.1:{PORT}" if inside else str(gateway.address)
        if wanted is not None and upstream is not None:
            model = Model(name=wanted.name, base_url=address, key=gateway.placeholder)
        yield _Reach(
            gateway=gateway,
            model=model,
            counts=upstream is not None,
            proxy=address if hosts else None,
            secrets=secrets,
        )


@contextmanager
def _folder(path: Path | None) -> Generator[Path | None]:
    """Give a folder a short name: the whole path of a socket may have 107 bytes."""
    if path is None:
        yield None
        return
    handle = os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield Path(f"/proc/self/fd/{handle}")
    finally:
        os.close(handle)


def _direct(wanted: ModelChoice | None, key: str) -> Model | None:
    if wanted is None or wanted.key is Key.GATEWAY:
        return None
    # Agents add the version themselves.
    return Model(name=wanted.name, base_url=wanted.url.removesuffix("/v1"), key=key)


def _upstream(spec: AgentSpec, wanted: ModelChoice | None, key: str) -> Upstream | None:
    if wanted is None or spec.dialect is None:
        return None
    return Upstream(dialect=spec.dialect, base_url=wanted.url, key=key)


def _key(environ: Mapping[str, str]) -> str:
    key = environ.get(KEY_VARIABLE, "").strip()
    if not key:
        raise UsageError(f"the agent asks a model and there is no key; set {KEY_VARIABLE}")
    return key


def _own_secrets(spec: AgentSpec, environ: Mapping[str, str]) -> dict[str, str]:
    missing = [name for name in spec.secrets if not environ.get(name)]
    if missing:
        raise UsageError(f"the agent {spec.name} needs {', '.join(missing)}; set it for this step")
    return {name: environ[name] for name in spec.secrets}


def _network(begun: Session) -> str:
    if begun.spec.network is Network.ALLOWED:
        return f"{Network.ALLOWED}: {', '.join(begun.agent.hosts)}"
    return str(begun.spec.network)
