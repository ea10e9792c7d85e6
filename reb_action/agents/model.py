"""The model of an agent and the way to it; combinations that fail or are unsafe are refused."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from reb_action.agents.run.launch import writes_key
from reb_action.agents.spec import AgentSpec
from reb_action.errors import UsageError
from reb_action.gateway.egress.hosts import is_allowed
from reb_action.gateway.model_names import adds_search, needs_responses, vendor_host
from reb_action.gateway.prices import load_prices
from reb_action.gateway.settings import DEFAULT_URLS, Budget
from reb_action.gateway.upstream.connection import parse_base_url
from reb_action.model.agent import Dialect, Key
from reb_action.sandbox.protocol import Kind, Network
from reb_action.session.state import ModelChoice

_VERSION: Final = "/v1"
_OPENAI_HOSTS: Final = ("api.openai.com", ".azure.com")
_VENDOR_HOSTS: Final = frozenset(urlsplit(url).hostname for url in DEFAULT_URLS.values())
# Their library sends OpenAI's names to the Responses API at any address.
_BRIDGING: Final = frozenset({"mini-swe-agent"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """The user's options about models; agents without a model ignore them."""

    model: str | None = None
    url: str | None = None
    key: Key = Key.GATEWAY
    budget: Budget
    prices: Path | None = None
    any_model: bool = False
    preflight: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where an agent works; `disposable`: the machine is discarded afterwards."""

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
        raise UsageError(f"the agent {spec.name} needs a model; set --model")
    if place.kind is Kind.LOCAL and not place.disposable:
        raise UsageError(
            f"the local sandbox has no isolation, and a model would control {spec.name} on this"
            " machine; use --sandbox docker, or say --disposable if it is destroyed afterwards"
        )
    chosen = ModelChoice(
        name=asked.model,
        url=fit_url(spec.dialect, asked.url or DEFAULT_URLS[spec.dialect]),
        key=asked.key,
        budget=asked.budget,
        prices=None if asked.prices is None else str(asked.prices.absolute()),
        any_model=asked.any_model,
        preflight=asked.preflight,
    )
    _demand_known_pair(spec, chosen)
    if place.network is not Network.OPEN and adds_search(chosen.name):
        raise UsageError(
            f"{chosen.name} searches the web at its vendor, which --network {place.network} does"
            " not allow; choose another model, or --network open"
        )
    if chosen.key is Key.DIRECT:
        _demand_direct(spec, chosen, place)
        return chosen
    prices = load_prices(asked.prices)
    if chosen.budget.cost_usd is not None and prices.find(chosen.name) is None:
        raise UsageError(
            f"the price of {chosen.name} is unknown, so --budget-usd cannot be enforced;"
            " give its price with --prices, or use --budget-tokens"
        )
    return chosen


def _demand_known_pair(spec: AgentSpec, chosen: ModelChoice) -> None:
    """Refuse an agent and a model that cannot work together at this address."""
    model, host = chosen.name, urlsplit(chosen.url).hostname or ""
    is_openai = host.endswith(_OPENAI_HOSTS) or spec.name in _BRIDGING
    if spec.dialect is Dialect.CHAT and is_openai and needs_responses(model):
        raise UsageError(
            f"{spec.name} speaks {Dialect.CHAT}, and OpenAI serves {model} by {Dialect.RESPONSES}"
            " only; use codex, or another model"
        )
    vendor = vendor_host(model)
    if vendor not in (None, host) and host in _VENDOR_HOSTS:
        raise UsageError(
            f"{spec.name} would ask {host}, which does not serve {model}; set --model-url to a "
            "URL that does, in the dialect {spec.dialect}, with --model-url"
        )


def _demand_network(place: Place) -> None:
    if place.kind is Kind.LOCAL and place.network is not Network.OPEN:
        raise UsageError(
            f"the local sandbox has this machine's network, so {place.network} cannot be "
            "enforced; use --sandbox docker, or --network open"
        )
    if (place.network is Network.ALLOWED) != bool(place.hosts):
        raise UsageError("--network allowed and --allow-hosts go together; give both or neither")


def _demand_direct(spec: AgentSpec, chosen: ModelChoice, place: Place) -> None:
    if writes_key(spec):
        raise UsageError(
            f"{spec.name} writes its key to a file, where the measured code could read it; "
            "remove --direct-key"
        )
    budget = chosen.budget
    if any(limit is not None for limit in (budget.calls, budget.tokens, budget.cost_usd)):
        raise UsageError(
            "--direct-key bypasses the gateway, which enforces budgets; remove --direct-key"
            " or the budget"
        )
    url = urlsplit(chosen.url)
    port = url.port or (443 if url.scheme == "https" else 80)
    if place.network is not Network.OPEN and not is_allowed(place.hosts, url.hostname or "", port):
        raise UsageError(
            f"with --direct-key the agent itself has to reach {url.netloc}; add it to --allow-hosts"
        )


def fit_url(dialect: Dialect, url: str) -> str:
    """Return an address as a dialect takes it: one may serve agents of several dialects."""
    keeps_version = DEFAULT_URLS[dialect].endswith(_VERSION)
    parts = parse_base_url(url)
    path = parts.path if keeps_version else parts.path.removesuffix(_VERSION)
    return urlunsplit(parts._replace(path=path.rstrip("/")))
