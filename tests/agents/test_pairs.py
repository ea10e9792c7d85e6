"""Every agent and model that the docs and examples name together works, or is refused."""

import re
from pathlib import Path

import pytest
import yaml

from reb_action.agents.catalogue import agent
from reb_action.agents.model import Asked, Place, choose
from reb_action.errors import UsageError
from reb_action.gateway.dialects import DIALECTS
from reb_action.gateway.model_names import needs_responses
from reb_action.gateway.settings import Budget
from reb_action.model.agent import Dialect
from reb_action.sandbox.protocol import Kind, Network

ROOT = Path(__file__).parents[2]
PLACE = Place(kind=Kind.DOCKER, network=Network.OPEN)


def table():
    """Return the rows of the table in docs/agents.md."""
    text = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8").split("<!-- pairs -->")[1]
    rows = [line.strip("| ").split("|") for line in text.strip().splitlines()[2:]]
    return [tuple(cell.strip().strip("`") for cell in row) for row in rows]


def steps(value):
    """Yield every mapping below a YAML value."""
    if isinstance(value, dict):
        yield value
        for part in value.values():
            yield from steps(part)
    elif isinstance(value, list):
        for part in value:
            yield from steps(part)


def examples():
    """Return agent, model and address that a workflow of the examples or docs names together."""
    found = []
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "examples").glob("*.yml")]
    pages = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
    for page in pages:
        text = page.read_text(encoding="utf-8")
        texts += re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
        for command in re.findall(r"reb run .*", text):
            name = re.search(r"--agent (\S+)", command)
            model = re.search(r"--model (\S+)", command)
            if name and model:
                found.append((name[1], model[1], None))
    for text in texts:
        for step in steps(yaml.safe_load(text)):
            names = str(step.get("agents", step.get("agent", "")))
            if isinstance(step.get("model"), str):
                found += [
                    (name.strip(), step["model"], step.get("model-url"))
                    for name in names.split(",")
                    # A file of the user's own repository is not here.
                    if not name.split()[0].endswith(".yaml")
                ]
    return found


def chosen(name, model, url):
    asked = Asked(model=model, url=url or None, budget=Budget())
    return choose(agent(name), asked, PLACE)


@pytest.mark.parametrize("row", table(), ids=lambda row: f"{row[0]} {row[1]} {row[2]}")
def test_row_of_the_table_is_what_reb_does(row):
    name, model, url, works = row
    if works == "yes":
        assert chosen(name, model, url.replace("NAME", "name")).name == model
    else:
        assert works.startswith("no: ")
        with pytest.raises(UsageError):
            chosen(name, model, url)


def test_every_agent_with_a_model_has_a_row_that_works():
    names = ("claude-code", "codex", "opencode", "gemini-cli", "qwen-code", "mini-swe-agent")
    working = {name for name, _, _, works in table() if works == "yes"}
    assert working == {*names, "nexau", "nexau-paper"}


@pytest.mark.parametrize(("name", "model", "url"), examples())
def test_pair_of_an_example_works(name, model, url):
    assert chosen(name, model, url) is not None


def test_examples_are_found():
    assert {("opencode", "gpt-5.1", None), ("mini-swe-agent", "gpt-5.1", None)} <= set(examples())
    assert ("codex", "gpt-5.1-codex", None) in examples()


# The names that litellm 1.110.2, which mini-swe-agent pins, sends to the Responses API.
BRIDGED = (
    *("gpt-5-codex", "gpt-5-pro", "gpt-5.1-codex", "gpt-5.1-codex-max"),
    *("gpt-5.1-codex-mini", "gpt-5.2-codex", "gpt-5.2-pro", "o1-pro", "o3-pro"),
    *("o3-deep-research", "o4-mini-deep-research", "gpt-5.3-codex"),
)


@pytest.mark.parametrize("model", BRIDGED)
def test_name_that_the_pinned_library_sends_to_responses_is_known(model):
    assert needs_responses(model)


@pytest.mark.parametrize("model", ["gpt-5.1", "gpt-5-mini", "gpt-4.1", "o3", "glm-4.7"])
def test_name_that_the_pinned_library_sends_to_chat_completions_is_known(model):
    assert not needs_responses(model)


def test_gateway_has_no_route_of_another_dialect():
    assert DIALECTS[Dialect.CHAT].find_route("/v1/responses") is None
    assert DIALECTS[Dialect.RESPONSES].find_route("/v1/chat/completions") is None
