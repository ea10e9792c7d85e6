"""Which model an agent asks is decided before anything starts, and refused where it must be."""

from dataclasses import replace
from pathlib import Path

import pytest

from reb_action.agents.catalogue import agent
from reb_action.agents.model import Asked, Place, choose
from reb_action.agents.spec import AgentFile
from reb_action.errors import UsageError
from reb_action.gateway.settings import Budget
from reb_action.model.agent import Key
from reb_action.sandbox.protocol import Kind, Network
from reb_action.session.state import ModelChoice

ASKED = Asked(model="m-1", budget=Budget(calls=9))
DOCKER = Place(kind=Kind.DOCKER, network=Network.OPEN)
LOCAL = Place(kind=Kind.LOCAL, network=Network.OPEN)
CLAUDE, CODEX = agent("claude-code"), agent("codex")


def test_agent_asks_its_vendor_unless_told_otherwise():
    assert choose(CLAUDE, ASKED, DOCKER) == ModelChoice(
        name="m-1", url="https://api.anthropic.com", key=Key.GATEWAY, budget=Budget(calls=9)
    )
    other = replace(ASKED, url="http://models.example.org:8080/v1/")
    assert choose(CODEX, other, DOCKER).url == "http://models.example.org:8080/v1"


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("claude-code", "http://router.example.org"),
        ("gemini-cli", "http://router.example.org"),
        ("codex", "http://router.example.org/v1"),
        ("opencode", "http://router.example.org/v1"),
    ],
)
def test_one_address_serves_agents_of_all_dialects(name, url):
    asked = replace(ASKED, url="http://router.example.org/v1")
    assert choose(agent(name), asked, DOCKER).url == url


def test_agent_without_a_model_ignores_what_is_meant_for_others():
    asked = replace(ASKED, model=None, key=Key.DIRECT)
    assert choose(agent("pip"), asked, LOCAL) is None


def test_disposable_machine_may_hold_a_model():
    assert choose(CLAUDE, ASKED, replace(LOCAL, disposable=True)) is not None


def test_direct_key_is_an_exception_that_is_recorded():
    direct = replace(ASKED, key=Key.DIRECT, budget=Budget(repeats=9))
    assert choose(CLAUDE, direct, DOCKER).key is Key.DIRECT
    hosts = Place(kind=Kind.DOCKER, network=Network.ALLOWED, hosts=("*.anthropic.com",))
    assert choose(CLAUDE, direct, hosts).key is Key.DIRECT


@pytest.mark.parametrize(
    ("asked", "place", "message"),
    [
        (replace(ASKED, model=None), DOCKER, "the agent claude-code needs a model; set --model"),
        (ASKED, LOCAL, "the local sandbox has no isolation, and a model would control claude-code"),
        (
            ASKED,
            replace(LOCAL, network=Network.NONE, disposable=True),
            "the local sandbox has this machine's network, so none cannot be enforced; use",
        ),
        (
            ASKED,
            replace(LOCAL, network=Network.ALLOWED, hosts=("a",), disposable=True),
            "the local sandbox has this machine's network, so allowed cannot be enforced; use",
        ),
        (ASKED, replace(DOCKER, network=Network.ALLOWED), "--network allowed and --allow-hosts go"),
        (ASKED, replace(DOCKER, hosts=("a",)), "--network allowed and --allow-hosts go together"),
        (
            replace(ASKED, budget=Budget(cost_usd=1.0)),
            DOCKER,
            "the price of m-1 is unknown, so --budget-usd cannot be enforced; give its price with",
        ),
        (
            replace(ASKED, key=Key.DIRECT),
            DOCKER,
            "--direct-key bypasses the gateway, which enforces budgets",
        ),
        (
            replace(ASKED, key=Key.DIRECT, budget=Budget()),
            replace(DOCKER, network=Network.NONE),
            "with --direct-key the agent itself has to reach api.anthropic.com; add it to",
        ),
    ],
)
def test_what_cannot_be_kept_is_refused(asked: Asked, place: Place, message: str):
    with pytest.raises(UsageError) as caught:
        choose(CLAUDE, asked, place)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    "url",
    ["api.example.org", "ftp://a", "https://", "https://me:pw@a", "https://a?k=v", "http://a:x/"],
)
def test_address_that_is_none_or_holds_a_password_is_refused_unshown(url: str):
    with pytest.raises(UsageError) as caught:
        choose(CLAUDE, replace(ASKED, url=url), DOCKER)
    assert str(caught.value).startswith("invalid model URL; use https://HOST/PATH without")


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("https://a.openai.azure.com/openai/v1?api-version=2026-01-01-preview", None),
        ("https://openrouter.ai/api/v1/", "https://openrouter.ai/api/v1"),
    ],
)
def test_address_of_a_vendor_is_kept(url: str, kept: str | None):
    chosen = choose(CODEX, replace(ASKED, url=url), DOCKER)
    assert chosen is not None
    assert chosen.url == (kept or url)


@pytest.mark.parametrize(
    ("host", "vendor"),
    [
        ("bedrock-runtime.us-east-1.amazonaws.com", "Amazon Bedrock"),
        ("us-central1-aiplatform.googleapis.com", "Vertex AI"),
        ("aiplatform.googleapis.com", "Vertex AI"),
    ],
)
def test_vendor_with_signed_requests_is_refused(host: str, vendor: str):
    with pytest.raises(UsageError, match=f"^{vendor} needs signed requests") as caught:
        choose(CLAUDE, replace(ASKED, url=f"https://{host}/x"), DOCKER)
    assert "LiteLLM" in str(caught.value)


def test_price_of_the_user_makes_a_budget_possible(tmp_path: Path):
    prices = tmp_path / "prices.yaml"
    prices.write_text("models:\n  m-1: {input: 1, output: 2}\n")
    asked = replace(ASKED, budget=Budget(cost_usd=1.0), prices=prices)
    chosen = choose(CLAUDE, asked, DOCKER)
    assert chosen is not None
    assert chosen.prices == str(prices)


@pytest.mark.parametrize("network", [Network.NONE, Network.ALLOWED])
@pytest.mark.parametrize("model", ["openai/gpt-5:online", "gpt-4o-search-preview", "sonar-pro"])
def test_model_that_searches_is_refused_without_an_open_network(network: Network, model: str):
    hosts = ("a",) if network is Network.ALLOWED else ()
    place = replace(DOCKER, network=network, hosts=hosts)
    with pytest.raises(UsageError, match="searches the web at its vendor"):
        choose(CODEX, replace(ASKED, model=model), place)
    assert choose(CODEX, replace(ASKED, model=model), DOCKER) is not None


@pytest.mark.parametrize("name", ["opencode", "mini-swe-agent", "qwen-code", "nexau"])
@pytest.mark.parametrize(
    "model", ["gpt-5.1-codex", "openai/gpt-5-codex-mini", "gpt-5.1-codex-2026-01-01", "o1-pro"]
)
def test_model_without_chat_completions_is_refused_for_an_agent_that_needs_them(
    name: str, model: str
):
    with pytest.raises(UsageError, match=f"^{name} speaks openai-chat, and OpenAI serves"):
        choose(agent(name), replace(ASKED, model=model), DOCKER)
    assert choose(CODEX, replace(ASKED, model=model), DOCKER) is not None


@pytest.mark.parametrize("place", ["files", "state"])
def test_key_itself_is_never_written_to_a_file(place: str):
    file = AgentFile(name="x", content=b"key = {key}", text=True)
    with pytest.raises(
        UsageError, match="claude-code writes its key to a file, where the measured"
    ):
        choose(
            replace(CLAUDE, **{place: (file,)}),
            replace(ASKED, key=Key.DIRECT, budget=Budget()),
            DOCKER,
        )
