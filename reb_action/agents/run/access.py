"""How an agent reaches its model and hosts: through a gateway that is open while it works."""

import ctypes
import os
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from reb_action.agents.environment import KEY_VARIABLE, Model
from reb_action.agents.spec import AgentSpec
from reb_action.errors import UsageError
from reb_action.gateway.prices import load_prices
from reb_action.gateway.settings import Budget, HostedTools, Upstream
from reb_action.model.agent import Key
from reb_action.sandbox.port_forward import PORT, SOCKET, forward
from reb_action.sandbox.protocol import Kind, Network, Sandbox
from reb_action.session.layout import SessionLayout
from reb_action.session.state import ModelChoice, Session

if TYPE_CHECKING:
    from reb_action.gateway.conversation.record import Turn
    from reb_action.gateway.gateway import Gateway

_PR_SET_DUMPABLE: Final = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelAccess:
    """The agent's access to its model and hosts, and the secrets to redact afterwards.

    `counts`: the gateway holds the key and sees every call of the model.
    """

    gateway: "Gateway | None" = None
    model: Model | None = None
    counts: bool = False
    proxy: str | None = None
    secrets: tuple[str, ...] = ()


@contextmanager
def open_model_access(
    layout: SessionLayout,
    begun: Session,
    spec: AgentSpec,
    sandbox: Sandbox,
    environ: Mapping[str, str],
    *,
    on_turn: Callable[["Turn"], None] = lambda _: None,
    elapsed_seconds: float = 0.0,
) -> Generator[ModelAccess]:
    """Open the gateway that an agent needs, if it needs one; raises UsageError without a key.

    `on_turn` gets each call of the model, from another thread. The agent has worked for
    `elapsed_seconds` before; the gateway continues the counts of that time.
    """
    wanted, hosts = begun.agent.model, begun.agent.hosts
    key = "" if wanted is None else find_key(environ)
    secrets = (key,) if key else ()
    model = _direct(wanted, key)
    upstream = find_upstream(spec, begun, key) if model is None else None
    if upstream is None and not hosts:
        yield ModelAccess(model=model, secrets=secrets)
        return
    with _open(layout, begun, sandbox, upstream, on_turn, elapsed_seconds) as (gateway, address):
        if wanted is not None and upstream is not None:
            model = Model(name=wanted.name, base_url=address, key=gateway.placeholder)
        yield ModelAccess(
            gateway=gateway,
            model=model,
            counts=upstream is not None,
            proxy=address if hosts else None,
            secrets=secrets,
        )


@contextmanager
def _open(
    layout: SessionLayout,
    begun: Session,
    sandbox: Sandbox,
    upstream: Upstream | None,
    on_turn: Callable[["Turn"], None],
    elapsed_seconds: float,
) -> Generator[tuple["Gateway", str]]:
    """Open a gateway, and give the address at which the agent reaches it."""
    # Agents without a model do not wait for the server.
    from reb_action.gateway.egress.proxy import create_proxy  # noqa: PLC0415
    from reb_action.gateway.gateway import Gateway  # noqa: PLC0415

    wanted, hosts = begun.agent.model, begun.agent.hosts
    inside = begun.spec.kind is Kind.DOCKER
    with (
        _folder(layout.gateway if inside else None) as folder,
        Gateway(
            upstream,
            Budget() if wanted is None else wanted.budget,
            prices=load_prices(find_price_list(wanted)),
            record=layout.model_calls,
            listen=None if folder is None else folder / SOCKET,
            egress=create_proxy(hosts) if hosts else None,
            conversation=layout.conversation,
            on_turn=on_turn,
            saved=layout.ledger,
            elapsed_seconds=elapsed_seconds,
        ) as gateway,
    ):
        if inside:
            forward(sandbox)
        yield gateway, f"http://127.0.0.1:{PORT}" if inside else str(gateway.address)


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


def find_upstream(spec: AgentSpec, begun: Session, key: str) -> Upstream | None:
    """Return the model behind an agent's gateway; None for an agent that asks none."""
    wanted = begun.agent.model
    if wanted is None or spec.dialect is None:
        return None
    # The vendor would fetch for an agent that may not reach the Internet itself.
    is_open = begun.spec.network is Network.OPEN
    return Upstream(
        dialect=spec.dialect,
        base_url=wanted.url,
        key=key,
        model=wanted.name,
        hosted_tools=HostedTools.FORWARD if is_open else HostedTools.REMOVE,
    )


def find_price_list(wanted: ModelChoice | None) -> Path | None:
    """Return the user's price list, if there is one."""
    return None if wanted is None or wanted.prices is None else Path(wanted.prices)


def find_key(environ: Mapping[str, str]) -> str:
    """Return the key of the model, and close our memory; raises UsageError without a usable one."""
    key = environ.get(KEY_VARIABLE, "").strip()
    if not key:
        raise UsageError(f"the agent needs the key of a model; set {KEY_VARIABLE}")
    # Sent as a header: http.client would print the whole key in its refusal.
    if not (key.isascii() and key.isprintable()):
        raise UsageError(
            f"the key in {KEY_VARIABLE} has a line break or a character that is not allowed in a "
            "header; set one line of ASCII"
        )
    _close_memory()
    return key


def _close_memory() -> None:
    """Keep other processes of this user, such as an agent in the local sandbox, from our memory.

    Nor can they read our environment then; root still can.
    """
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
