"""Which model an agent asks, and how: refused where it could not work, or could do harm."""

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from reb_action.agents.run.launch import writes_key
from reb_action.agents.spec import AgentSpec
from reb_action.errors import UsageError
from reb_action.gateway import DEFAULT_URLS, Budget, load_prices
from reb_action.gateway.egress.proxy import is_allowed
from reb_action.model.agent import Dialect, Key
from reb_action.sandbox.protocol import Kind, Network
from reb_action.session.state import ModelChoice

_VERSION: Final = "/v1"


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """What the user said about models; of several agents, those without a model ignore it."""

    model: str | None = None
    url: str | None = None
    key: Key = Key.GATEWAY
    budget: Budget


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where an agent is to work; `disposable` says that nothing on the machine is worth a theft."""

    kind: Kind
    network: Network
    hosts: tuple[str, ...] = ()
    disposable: bool = False


def choose(spec: AgentSpec, asked: Asked, place: Place) -> ModelChoice | None:
    """Return the model of an agent, None for one that asks none; raises UsageError."""
    _demand_network(place)
    if spec.dialect is None:
        return None
    if asked.model is None:
        raise UsageError(f"the agent {spec.name} asks a model; name it with --model")
    if place.kind is Kind.LOCAL and not place.disposable:
        raise UsageError(
            f"the local sandbox isolates nothing, and a model would steer {spec.name} on this"
            " machine; use --sandbox docker, or say --disposable if it is destroyed afterwards"
        )
    chosen = ModelChoice(
        name=asked.model,
        url=_in(spec.dialect, _url(asked.url or DEFAULT_URLS[spec.dialect])),
        key=asked.key,
        budget=asked.budget,
    )
    if chosen.key is Key.DIRECT:
        _demand_direct(spec, chosen, place)
    elif chosen.budget.cost_usd is not None and chosen.name not in load_prices().models:
        raise UsageError(
            f"no price of {chosen.name} is known, so --budget-usd cannot be kept;"
            " use --budget-tokens"
        )
    return chosen


def _demand_network(place: Place) -> None:
    if place.kind is Kind.LOCAL and place.network is not Network.OPEN:
        raise UsageError(
            f"the local sandbox has this machine's network, so {place.network} cannot be kept;"
            " use --sandbox docker, or --network open"
        )
    if (place.network is Network.ALLOWED) != bool(place.hosts):
        raise UsageError("--network allowed and --allow-hosts go together; give both or neither")


def _demand_direct(spec: AgentSpec, chosen: ModelChoice, place: Place) -> None:
    if writes_key(spec):
        raise UsageError(
            f"{spec.name} writes its key to a file, where the measured code could read it;"
            " leave --direct-key out"
        )
    budget = chosen.budget
    if any(limit is not None for limit in (budget.calls, budget.tokens, budget.cost_usd)):
        raise UsageError("with --direct-key nobody counts, so no budget can be kept; leave it out")
    url = urlsplit(chosen.url)
    port = url.port or (443 if url.scheme == "https" else 80)
    if place.network is not Network.OPEN and not is_allowed(place.hosts, url.hostname or "", port):
        raise UsageError(
            f"with --direct-key the agent itself has to reach {url.netloc}; add it to --allow-hosts"
        )


def _in(dialect: Dialect, url: str) -> str:
    """Return an address as a dialect takes it: one may serve agents of several dialects."""
    return url if DEFAULT_URLS[dialect].endswith(_VERSION) else url.removesuffix(_VERSION)


def _url(text: str) -> str:
    try:
        url = urlsplit(text)
        fit = url.scheme in ("http", "https") and url.hostname and (url.port or 1)
    except ValueError:
        fit = False
    if not fit or "@" in text or "?" in text or "#" in text:
        # Not shown: it may hold a password.
        raise UsageError(
            "--model-url is no address such as https://models.example.org/v1, without a password"
        )
    return text.rstrip("/")
